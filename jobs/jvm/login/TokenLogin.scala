package sluice

import java.util.{List => JList, Map => JMap}
import javax.security.auth.login.AppConfigurationEntry
import org.apache.kafka.common.config.SaslConfigs
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler

/** Kafka's login with a token, at the endpoint that the connection names.
  *
  * Kafka asks only endpoints in a property of the JVM, lest a stranger's configuration make it ask
  * any (KAFKA-18654). Here the operator's own connection is the only one that names an endpoint.
  */
class TokenLogin extends OAuthBearerLoginCallbackHandler {
  private val Allowed = "org.apache.kafka.sasl.oauthbearer.allowed.urls"

  override def configure(
      settings: JMap[String, _],
      mechanism: String,
      login: JList[AppConfigurationEntry]
  ): Unit = {
    allow(settings.get(SaslConfigs.SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL).toString)
    super.configure(settings, mechanism, login)
  }

  private def allow(url: String): Unit = TokenLogin.synchronized {
    val known = Option(System.getProperty(Allowed)).toSeq.flatMap(_.split(",")).map(_.trim)
    if (!known.contains(url)) System.setProperty(Allowed, (known :+ url).mkString(","))
  }
}

object TokenLogin
