import io.debezium.data.Envelope;
import io.debezium.data.Json;
import io.debezium.data.VariableScaleDecimal;
import io.debezium.schema.SchemaFactory;
import io.debezium.schema.SchemaNameAdjuster;
import io.debezium.time.*;
import io.debezium.transforms.ExtractNewRecordState;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.*;
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Writes what Debezium's own classes make of one row's life, as Connect's JsonConverter writes it:
 * with Connect's schema and without. README.md says how it was run.
 */
public final class WriteEvents {
  private static final String PREFIX = "shop.public.orders";
  private static final Instant AT = Instant.ofEpochMilli(1_700_000_000_500L);
  private static final JsonConverter WRAPPED = converter(true, false);
  private static final JsonConverter WRAPPED_KEYS = converter(true, true);
  private static final JsonConverter PLAIN = converter(false, false);

  private static JsonConverter converter(boolean schemas, boolean isKey) {
    JsonConverter made = new JsonConverter();
    made.configure(Map.of("schemas.enable", String.valueOf(schemas)), isKey);
    return made;
  }

  private static Schema row() {
    return SchemaBuilder.struct().name(PREFIX + ".Value").optional()
        .field("id", Schema.INT64_SCHEMA)
        .field("name", Schema.OPTIONAL_STRING_SCHEMA)
        .field("amount", Decimal.builder(2).parameter("connect.decimal.precision", "10").optional().build())
        .field("free", VariableScaleDecimal.optionalSchema())
        .field("born", io.debezium.time.Date.builder().optional().build())
        .field("at_ms", io.debezium.time.Timestamp.builder().optional().build())
        .field("at_us", MicroTimestamp.builder().optional().build())
        .field("at_ns", NanoTimestamp.builder().optional().build())
        .field("zoned", ZonedTimestamp.builder().optional().build())
        .field("connect_day", org.apache.kafka.connect.data.Date.builder().optional().build())
        .field("connect_at", org.apache.kafka.connect.data.Timestamp.builder().optional().build())
        .field("clock", MicroTime.builder().optional().build())
        .field("doc", Json.builder().optional().build())
        .field("raw", Schema.OPTIONAL_BYTES_SCHEMA)
        .build();
  }

  private static Struct order(Schema row, long id, String name) {
    return new Struct(row).put("id", id).put("name", name)
        .put("amount", new BigDecimal("2000.00"))
        .put("free", VariableScaleDecimal.fromLogical(VariableScaleDecimal.optionalSchema(), new BigDecimal("1.56")))
        .put("born", 19_675).put("at_ms", 1_700_000_000_123L).put("at_us", 1_700_000_000_123_456L)
        .put("at_ns", 1_700_000_000_123_456_789L).put("zoned", "2023-11-14T22:13:20.123456Z")
        .put("connect_day", new java.util.Date(19_675L * 86_400_000L))
        .put("connect_at", new java.util.Date(1_700_000_000_123L))
        .put("clock", 3_723_000_456L).put("doc", "{\"a\": 1}").put("raw", "AB".getBytes());
  }

  private static final Schema SOURCE = SchemaBuilder.struct().name("io.debezium.connector.postgresql.Source")
      .field("version", Schema.STRING_SCHEMA).field("connector", Schema.STRING_SCHEMA)
      .field("name", Schema.STRING_SCHEMA).field("ts_ms", Schema.INT64_SCHEMA)
      .field("snapshot", Schema.OPTIONAL_STRING_SCHEMA).field("db", Schema.STRING_SCHEMA)
      .field("sequence", Schema.OPTIONAL_STRING_SCHEMA).field("ts_us", Schema.OPTIONAL_INT64_SCHEMA)
      .field("ts_ns", Schema.OPTIONAL_INT64_SCHEMA).field("schema", Schema.STRING_SCHEMA)
      .field("table", Schema.STRING_SCHEMA).field("txId", Schema.OPTIONAL_INT64_SCHEMA)
      .field("lsn", Schema.OPTIONAL_INT64_SCHEMA).field("xmin", Schema.OPTIONAL_INT64_SCHEMA).build();

  private static Struct source(long lsn) {
    return new Struct(SOURCE).put("version", "2.7.4.Final").put("connector", "postgresql").put("name", "shop")
        .put("ts_ms", 1_700_000_000_123L).put("snapshot", "false").put("db", "shop")
        .put("sequence", "[null,\"" + lsn + "\"]").put("ts_us", 1_700_000_000_123_456L)
        .put("ts_ns", 1_700_000_000_123_456_000L).put("schema", "public").put("table", "orders")
        .put("txId", 571L).put("lsn", lsn);
  }

  private static void line(String name, Schema schema, Object value) {
    System.out.println("{\"name\": \"" + name + "\", \"plain\": " + text(PLAIN, schema, value)
        + ", \"wrapped\": " + text(WRAPPED, schema, value) + "}");
  }

  /** The converter's bytes as a JSON string. */
  private static String text(JsonConverter converter, Schema schema, Object value) {
    byte[] bytes = converter.fromConnectData(PREFIX, schema, value);
    if (bytes == null) return "null";
    String found = new String(bytes, StandardCharsets.UTF_8);
    return "\"" + found.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static SourceRecord record(Schema schema, Object value) {
    Schema key = SchemaBuilder.struct().name(PREFIX + ".Key").field("id", Schema.INT64_SCHEMA).build();
    return new SourceRecord(Map.of(), Map.of(), PREFIX, 0, key, new Struct(key).put("id", 1L), schema, value);
  }

  /** What the transform makes of an event, in one of its modes. */
  private static void unwrapped(String mode, String event, SourceRecord record) {
    ExtractNewRecordState<SourceRecord> transform = new ExtractNewRecordState<>();
    Map<String, String> settings = new HashMap<>(Map.of("add.fields", "op,source.ts_ms"));
    settings.put("delete.tombstone.handling.mode", mode);
    transform.configure(settings);
    SourceRecord found = transform.apply(record);
    String name = "unwrapped " + mode + " " + event;
    if (found == null) System.out.println("{\"name\": \"" + name + "\", \"dropped\": true}");
    else line(name, found.valueSchema(), found.value());
  }

  public static void main(String[] given) {
    Schema row = row();
    Schema transaction = SchemaFactory.get().transactionBlockSchema();
    Envelope envelope = SchemaFactory.get().datatypeEnvelopeSchema().withName(PREFIX + ".Envelope")
        .withRecord(row).withSource(SOURCE).withTransaction(transaction).build();
    Struct first = order(row, 1, "a"), second = order(row, 1, "b");
    Struct within = envelope.create(first, source(1), AT);
    within.put("transaction", new Struct(transaction).put("id", "571:1").put("total_order", 1L)
        .put("data_collection_order", 1L));
    Struct keyOnly = new Struct(row).put("id", 1L);
    Struct update = envelope.update(first, second, source(2), AT);
    Struct delete = envelope.delete(keyOnly, source(3), AT);
    line("c", envelope.schema(), within);
    line("r", envelope.schema(), envelope.read(first, source(0), AT));
    line("u", envelope.schema(), update);
    line("d", envelope.schema(), delete);
    line("t", envelope.schema(), envelope.truncate(source(4), AT));
    Schema message = SchemaBuilder.struct().name("io.debezium.connector.postgresql.Message")
        .field("prefix", Schema.OPTIONAL_STRING_SCHEMA).field("content", Schema.OPTIONAL_BYTES_SCHEMA).build();
    Schema messages = SchemaBuilder.struct().name("io.debezium.connector.postgresql.MessageValue")
        .field("op", Schema.STRING_SCHEMA).field("ts_ms", Schema.OPTIONAL_INT64_SCHEMA)
        .field("source", SOURCE).field("message", message).build();
    line("m", messages, new Struct(messages).put("op", "m").put("ts_ms", AT.toEpochMilli())
        .put("source", source(5)).put("message", new Struct(message).put("prefix", "p").put("content", "x".getBytes())));
    line("tombstone", null, null);
    SchemaNameAdjuster names = SchemaNameAdjuster.NO_OP;
    Schema heartbeat = SchemaFactory.get().heartbeatValueSchema(names);
    line("heartbeat", heartbeat, new Struct(heartbeat).put("ts_ms", AT.toEpochMilli()));
    Schema marker = SchemaFactory.get().transactionValueSchema(names);
    line("begin", marker, new Struct(marker).put("status", "BEGIN").put("id", "571:1").put("ts_ms", AT.toEpochMilli()));
    Struct count = new Struct(SchemaFactory.get().transactionEventCountPerDataCollectionSchema())
        .put("data_collection", "public.orders").put("event_count", 1L);
    line("end", marker, new Struct(marker).put("status", "END").put("id", "571:1").put("ts_ms", AT.toEpochMilli())
        .put("event_count", 1L).put("data_collections", List.of(count)));
    Schema change = SchemaFactory.get().schemaHistoryChangeSchema(names);
    Schema changes = SchemaBuilder.struct().name("io.debezium.connector.mysql.SchemaChangeValue")
        .field("source", SOURCE).field("ts_ms", Schema.INT64_SCHEMA)
        .field("databaseName", Schema.OPTIONAL_STRING_SCHEMA).field("schemaName", Schema.OPTIONAL_STRING_SCHEMA)
        .field("ddl", Schema.OPTIONAL_STRING_SCHEMA).field("tableChanges", SchemaBuilder.array(change).build()).build();
    line("schema change", changes, new Struct(changes).put("source", source(6)).put("ts_ms", AT.toEpochMilli())
        .put("databaseName", "shop").put("ddl", "CREATE TABLE x (id INT)").put("tableChanges", List.of()));
    for (String mode : List.of("drop", "tombstone", "rewrite", "rewrite-with-tombstone")) {
      unwrapped(mode, "u", record(envelope.schema(), update));
      unwrapped(mode, "d", record(envelope.schema(), delete));
    }
    Schema key = record(null, null).keySchema();
    byte[] wrapped = WRAPPED_KEYS.fromConnectData(PREFIX, key, new Struct(key).put("id", 1L));
    System.out.println("{\"name\": \"key\", \"wrapped\": "
        + "\"" + new String(wrapped, StandardCharsets.UTF_8).replace("\"", "\\\"") + "\"}");
  }
}
