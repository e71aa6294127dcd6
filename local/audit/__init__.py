"""The audit: locked packages and jars, compared with the vulnerabilities that are known of them."""
