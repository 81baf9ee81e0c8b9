package config

// foreignKeys belong to other parts of a Spring application, whose file the gateway
// may be given as it is.
func foreignKeys() []Key {
	return lift("", root,
		dead[Config](Ignored, "niws.loadbalancer.serverStats.expire.minutes", "statistics of servers that are gone are kept for half an hour"),
		dead[Config](Ignored, "niws.**", "it configures a part of the Java client that does not exist here"),
		dead[Config](Refused, "spring.config.import", "further files; use profiles"),
		dead[Config](Refused, "spring.profiles.group.**", "name the profiles one by one"),
		dead[Config](Ignored, "spring.**", "there is no Spring here"),
		dead[Config](Ignored, "endpoints.**", "use `management.endpoints.web.exposure`"),
		dead[Config](Ignored, "security.**", "there is no Spring Security"),
		dead[Config](Ignored, "feign.**", "there is no Feign client"),
		dead[Config](Ignored, "turbine.**", "there is no Turbine"),
		dead[Config](Ignored, "archaius.**", "there is no Archaius"),
		dead[Config](Ignored, "debug", "use `logging.level.root`"),
		dead[Config](Ignored, "trace", "use `logging.level.root`"),
		dead[Config](Ignored, "logging.**", "of `logging` only `logging.level` counts"),
	)
}
