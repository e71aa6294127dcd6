package sluice

import java.io.IOException
import java.util.{Map => JMap}
import org.apache.spark.SparkThrowable
import scala.jdk.CollectionConverters._

/** What our classes refuse. It is known by its condition, as an error of Spark's own is: a text may
  * hold what a record holds.
  */
class Refused(condition: String, parameters: (String, String)*)
    extends IOException(parameters.map(_._2).mkString(s"[$condition] ", " ", ""))
    with SparkThrowable {
  override def getCondition: String = condition
  override def getSqlState: String = null
  override def getMessageParameters: JMap[String, String] = parameters.toMap.asJava
}
