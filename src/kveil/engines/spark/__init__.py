"""Tables on a cluster: engine `spark`, which Apache Spark runs on. Nothing else of kveil imports pyspark."""
