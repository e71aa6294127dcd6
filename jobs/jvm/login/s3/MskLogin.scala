package sluice

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Clock, Duration, Instant, ZoneOffset}
import java.util.{Base64, Collections, List => JList, Map => JMap, Set => JSet}
import javax.security.auth.callback.{Callback, UnsupportedCallbackException}
import javax.security.auth.login.AppConfigurationEntry
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler
import org.apache.kafka.common.security.oauthbearer.{OAuthBearerToken, OAuthBearerTokenCallback}
import software.amazon.awssdk.auth.credentials.{AwsCredentials, DefaultCredentialsProvider}
import software.amazon.awssdk.http.{SdkHttpMethod, SdkHttpRequest}
import software.amazon.awssdk.http.auth.aws.signer.{AwsV4FamilyHttpSigner, AwsV4HttpSigner}
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner

/** Kafka's login to Amazon MSK by IAM: the token is the address of a request that AWS' own SDK
  * signed with the credentials it finds here. Kafka asks for the next one before this one expires.
  *
  * AWS' own handler for it takes the region from the JVM's environment; this one from the
  * connection (decision 48).
  */
class MskLogin extends AuthenticateCallbackHandler {
  private val credentials = DefaultCredentialsProvider.builder().build()
  private var region = ""

  override def configure(
      settings: JMap[String, _],
      mechanism: String,
      login: JList[AppConfigurationEntry]
  ): Unit = region = login.get(0).getOptions.get("region").toString

  override def handle(callbacks: Array[Callback]): Unit = callbacks.foreach {
    case asked: OAuthBearerTokenCallback =>
      asked.token(new MskToken(region, credentials.resolveCredentials(), Instant.now()))
    case other => throw new UnsupportedCallbackException(other)
  }

  override def close(): Unit = credentials.close()
}

/** A token that is valid for 15 minutes from `now`: no longer one is accepted. */
class MskToken(region: String, credentials: AwsCredentials, now: Instant) extends OAuthBearerToken {
  private val Lifetime = Duration.ofMinutes(15)

  override val value: String =
    Base64.getUrlEncoder.withoutPadding.encodeToString(address.getBytes(UTF_8))
  override def principalName: String = credentials.accessKeyId
  override def startTimeMs: java.lang.Long = now.toEpochMilli
  override def lifetimeMs: Long = now.plus(Lifetime).toEpochMilli
  override def scope: JSet[String] = Collections.emptySet[String]

  private def address: String = {
    val request = SdkHttpRequest.builder
      .method(SdkHttpMethod.GET)
      .protocol("https")
      .host(s"kafka.$region.amazonaws.com")
      .encodedPath("/")
      .putRawQueryParameter("Action", "kafka-cluster:Connect")
      .build()
    val signed = AwsV4HttpSigner.create.sign(asked =>
      asked
        .identity(credentials)
        .request(request)
        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "kafka-cluster")
        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
        .putProperty(
          AwsV4FamilyHttpSigner.AUTH_LOCATION, AwsV4FamilyHttpSigner.AuthLocation.QUERY_STRING)
        .putProperty(AwsV4FamilyHttpSigner.EXPIRATION_DURATION, Lifetime)
        .putProperty(HttpSigner.SIGNING_CLOCK, Clock.fixed(now, ZoneOffset.UTC)))
    // Unsigned, as AWS' own clients send it: it says who asks.
    signed.request.toBuilder.putRawQueryParameter("User-Agent", "sluice").build().getUri.toString
  }
}
