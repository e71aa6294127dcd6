import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/**
 * A broker's judge of logins by AWS: it knows one access key, and computes each signature itself
 * (AWS' documentation, "Signature Version 4", query string). What it accepts, it lists in a file:
 * the time in the token, and who signed it.
 */
public class SignedRequests implements AuthenticateCallbackHandler {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final Set<String> UNSIGNED = Set.of("X-Amz-Signature", "User-Agent");
  private Map<String, ?> known;

  @Override
  public void configure(
      Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> login) {
    known = login.get(0).getOptions();
  }

  @Override
  public void handle(Callback[] callbacks) throws IOException, UnsupportedCallbackException {
    for (Callback each : callbacks) {
      if (each instanceof OAuthBearerValidatorCallback asked) judge(asked);
      else throw new UnsupportedCallbackException(each);
    }
  }

  @Override
  public void close() {}

  private void judge(OAuthBearerValidatorCallback asked) throws IOException {
    try {
      var token = new Token(asked.tokenValue());
      String fault = token.fault();
      if (fault != null) asked.error("invalid_token: " + fault, null, null);
      else {
        String line = token.query.get("X-Amz-Date") + " " + token.query.get("User-Agent") + "\n";
        Files.writeString(
            Path.of(option("accepted")),
            line,
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        asked.token(token);
      }
    } catch (GeneralSecurityException | RuntimeException problem) {
      asked.error("invalid_token: " + problem, null, null);
    }
  }

  private String option(String name) {
    return known.get(name).toString();
  }

  private class Token implements OAuthBearerToken {
    private final String value;
    private final URI address;
    private final Map<String, String> raw = new TreeMap<>();
    final Map<String, String> query = new TreeMap<>();

    Token(String value) {
      this.value = value;
      var decoded = new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8);
      address = URI.create(decoded);
      for (String each : address.getRawQuery().split("&")) {
        String[] pair = each.split("=", 2);
        raw.put(pair[0], pair[1]);
        query.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
      }
    }

    /** Why it is not accepted; null if it is. */
    String fault() throws GeneralSecurityException {
      String day = query.get("X-Amz-Date").substring(0, 8);
      String scope = day + "/" + option("region") + "/kafka-cluster/aws4_request";
      if (!address.getHost().equals("kafka." + option("region") + ".amazonaws.com")) return "host";
      if (!query.get("Action").equals("kafka-cluster:Connect")) return "action";
      if (!query.get("X-Amz-Algorithm").equals("AWS4-HMAC-SHA256")) return "algorithm";
      if (!query.get("X-Amz-Credential").equals(option("accessKey") + "/" + scope)) return "scope";
      if (!query.get("X-Amz-SignedHeaders").equals("host")) return "headers";
      if (Integer.parseInt(query.get("X-Amz-Expires")) > 900) return "too long a life";
      Instant now = Instant.now();
      if (now.isBefore(start().minusSeconds(5)) || now.isAfter(end())) return "expired";
      return signature(scope).equals(query.get("X-Amz-Signature")) ? null : "signature";
    }

    private String signature(String scope) throws GeneralSecurityException {
      var signed = new StringBuilder();
      raw.forEach((name, text) -> {
        if (!UNSIGNED.contains(name)) signed.append("&" + name + "=" + text);
      });
      String request =
          String.join(
              "\n",
              List.of(
                  "GET",
                  "/",
                  signed.substring(1),
                  "host:" + address.getHost(),
                  "",
                  "host",
                  digest("")));
      String toSign =
          String.join(
              "\n",
              List.of("AWS4-HMAC-SHA256", query.get("X-Amz-Date"), scope, digest(request)));
      byte[] key = ("AWS4" + option("secretKey")).getBytes(StandardCharsets.UTF_8);
      for (String part : scope.split("/")) key = hmac(key, part);
      return HexFormat.of().formatHex(hmac(key, toSign));
    }

    private Instant start() {
      return Instant.from(STAMP.parse(query.get("X-Amz-Date")));
    }

    private Instant end() {
      return start().plus(Duration.ofSeconds(Long.parseLong(query.get("X-Amz-Expires"))));
    }

    @Override
    public String value() {
      return value;
    }

    @Override
    public Set<String> scope() {
      return Set.of();
    }

    @Override
    public long lifetimeMs() {
      return end().toEpochMilli();
    }

    @Override
    public String principalName() {
      return option("accessKey");
    }

    @Override
    public Long startTimeMs() {
      return start().toEpochMilli();
    }
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String digest(String text) throws GeneralSecurityException {
    return HexFormat.of()
        .formatHex(
            MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
