package sluice

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, LinkedHashMap, Map => JMap}
import java.util.zip.CRC32
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType

/** Avro's container files, each a record's bytes: the writer's schema stands in the file, and one
  * datum of it is the record.
  */
private[sluice] final class AvroContainer(reader: Schema, declared: StructType) {
  import AvroContainer._

  // In a topic of garbage, each file may have another schema.
  private val known = new LinkedHashMap[String, AvroColumns](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[String, AvroColumns]): Boolean =
      size > MostSchemas
  }

  /** Throws a Misfit. */
  def fill(file: Array[Byte], row: GenericInternalRow, rescue: Boolean): Unit = {
    if (!file.startsWith(Magic))
      throw new Misfit(s"$NotOne: expected 4f626a01, found ${Bytes.hex(file)}")
        .hinted(ValueKind.of(file))
    val (schema, datum) = opened(file)
    columnsOf(schema).fill(datum, 0, row, rescue)
  }

  /** Of a schema that cannot be read, too, a record is undecodable, and no more. */
  private def columnsOf(text: String): AvroColumns =
    try known.computeIfAbsent(text, _ => new AvroColumns(AvroDatum.parsed(text), reader, declared))
    catch {
      case _: StackOverflowError => throw new Misfit(s"$NotOne: its schema has too many levels")
    }
}

private[sluice] object AvroContainer {
  import AvroBytes.Cursor

  /** In place of frames: that records are container files. */
  val Name = "container"

  private val MostSchemas = 100
  private val NotOne = "not an Avro container file"
  private val Magic = "Obj\u0001".getBytes(UTF_8)
  private val Mark = 16

  /** The writer's schema, and the bytes of its one datum. */
  private def opened(file: Array[Byte]): (String, Array[Byte]) = {
    val in = new Cursor(file, 0)
    val (found, block) =
      try {
        in.skip(Magic.length)
        val found = entries(in)
        (found, onlyBlock(in))
      } catch {
        case misfit: Misfit if misfit.text.startsWith(OneRecord) => throw misfit
        case misfit: Misfit => throw new Misfit(s"$NotOne: ${misfit.told} at byte ${in.at}")
      }
    val schema = found.getOrElse("avro.schema", throw new Misfit(s"$NotOne: found no avro.schema"))
    val codec = found.get("avro.codec").fold("null")(new String(_, UTF_8))
    (new String(schema, UTF_8), unpacked(codec, block))
  }

  private def entries(in: Cursor): Map[String, Array[Byte]] = {
    val found = Map.newBuilder[String, Array[Byte]]
    var left = in.long()
    while (left != 0) {
      // A negative number is followed by the block's length.
      if (left < 0) in.long()
      var count = math.abs(left)
      while (count > 0) {
        found += in.text().toString -> bytes(in)
        count -= 1
      }
      left = in.long()
    }
    found.result()
  }

  private def bytes(in: Cursor): Array[Byte] = {
    val length = in.long()
    val start = in.at
    in.skip(length)
    Arrays.copyOfRange(in.bytes, start, in.at)
  }

  private val OneRecord = "expected one record in the container file"

  private def onlyBlock(in: Cursor): Array[Byte] = {
    val mark = raw(in)
    var only = Array.emptyByteArray
    var total = 0L
    while (in.left > 0) {
      val count = in.long()
      if (count < 0) throw new Misfit(s"expected a number of records, found $count")
      val block = bytes(in)
      if (!Arrays.equals(raw(in), mark)) throw new Misfit("expected the file's mark, found another")
      if (count > 0) only = block
      total = Math.addExact(total, count)
    }
    if (total != 1) throw new Misfit(s"$OneRecord, found $total")
    only
  }

  private def raw(in: Cursor): Array[Byte] = {
    in.skip(Mark)
    Arrays.copyOfRange(in.bytes, in.at - Mark, in.at)
  }

  private def unpacked(codec: String, block: Array[Byte]): Array[Byte] = codec match {
    case "null" => block
    case "deflate" => Deflated.bare(block)
    case "zstandard" => Compression.zstd(block)
    case "snappy" => checked(block)
    case other =>
      val told = Misfit.shortened(other)
      throw new Misfit(
        s"$NotOne: expected the codec null, deflate, snappy or zstandard, found $told"
      )
  }

  /** A checksum of the content follows the block. */
  private def checked(block: Array[Byte]): Array[Byte] = {
    val length = math.max(0, block.length - 4)
    val found = Snappies.block(block, 0, length)
    val sum = new CRC32
    sum.update(found)
    if (ByteBuffer.wrap(block).getInt(length) != sum.getValue.toInt)
      throw new Misfit(s"$NotOne: found another checksum than that of the block")
    found
  }
}
