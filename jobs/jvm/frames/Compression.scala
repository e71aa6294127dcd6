package sluice

import com.github.luben.zstd.{Zstd, ZstdException, ZstdInputStreamNoFinalizer}
import java.io.{ByteArrayInputStream, IOException}
import org.apache.commons.compress.compressors.lz4.FramedLZ4CompressorInputStream

/** Compressions by their names in a spec, each as what undoes it; that throws a Misfit. */
private[sluice] object Compression {
  def of(name: String): Array[Byte] => Array[Byte] = {
    val unpack = named(name)
    bytes =>
      try unpack(bytes)
      catch { case misfit: Misfit => throw misfit.hinted(otherKind(name, bytes)) }
  }

  private def named(name: String): Array[Byte] => Array[Byte] = name match {
    case "gzip" => Deflated.gzip
    case "zlib" => Deflated.zlib
    case "zstd" => zstd
    case "snappy" => Snappies.unpacked
    case "lz4" => lz4
  }

  /** What the bytes begin like, if that is not what was expected. */
  private def otherKind(name: String, bytes: Array[Byte]): String =
    ValueKind.of(bytes) match {
      case kind if kind.toLowerCase.contains(name) => ""
      case kind => kind
    }

  /** Frames, of which each also says where it ends. */
  def zstd(bytes: Array[Byte]): Array[Byte] = {
    if (bytes.isEmpty) throw new Misfit("not zstd: found no bytes")
    val out = new Unpacked("zstd", bytes.length)
    var at = 0
    while (at < bytes.length) {
      val length = frameAt(bytes, at)
      val in = new ZstdInputStreamNoFinalizer(new ByteArrayInputStream(bytes, at, length))
      try out.all(in)
      catch { case problem: IOException => throw ofZstd(problem.getMessage, at) }
      finally in.close()
      at += length
    }
    out.whole
  }

  private def frameAt(bytes: Array[Byte], at: Int): Int =
    try {
      val length = Zstd.findFrameCompressedSize(bytes, at, bytes.length - at)
      if (Zstd.isError(length)) throw ofZstd(Zstd.getErrorName(length), at)
      length.toInt
    } catch { case problem: ZstdException => throw ofZstd(problem.getMessage, at) }

  private def ofZstd(why: String, at: Int) = new Misfit(s"not zstd: $why in the frame at byte $at")

  private def lz4(bytes: Array[Byte]): Array[Byte] =
    if (bytes.isEmpty) throw new Misfit("not lz4: found no bytes")
    else Unpacked.by("lz4", bytes, new FramedLZ4CompressorInputStream(_, true))
}
