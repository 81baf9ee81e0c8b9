package routing

// Settings is the part of the zuul.* configuration that decides about routes.
type Settings struct {
	// Prefix is put in front of the path of every route; it must be literal, its leading slash may be missing.
	Prefix string
	// StripPrefix removes Prefix, and only that, before forwarding. Default true.
	StripPrefix bool
	// Retryable is the default for routes that do not say. Default false.
	Retryable bool
	// Routes are in configuration order, which is the order of matching.
	Routes []RouteSettings
	// IgnoredPatterns are ant patterns of paths, Prefix included, that no route may take.
	IgnoredPatterns []string
	// IgnoredServices are service ids, "*" standing for any run of characters and upper and lower case being equal, that get no route of their own by discovery.
	IgnoredServices []string
	// IgnoreLocalService adds LocalService to the ignored services. Default true.
	IgnoreLocalService bool
	// LocalService is the id under which the gateway itself is registered.
	LocalService string
	// Mapper turns the id of a discovered service into its path; nil means the id is the path.
	Mapper ServiceRouteMapper
}

// DefaultSettings returns what applies when nothing is configured.
func DefaultSettings() Settings {
	return Settings{StripPrefix: true, IgnoreLocalService: true}
}

// RouteSettings is one entry of zuul.routes. Only Key is required: blank fields get the defaults that [Build] documents.
type RouteSettings struct {
	// Key is the entry's key in the configuration.
	Key string
	// ID defaults to Key.
	ID string
	// Path is an ant pattern and defaults to "/<Key>/**". A missing leading slash is added.
	Path string
	// ServiceID defaults to Key when URL is blank too. It may hold a URL or a "forward:" target as well.
	ServiceID string
	// URL is an http or https URL, or "forward:" and a path, and wins over ServiceID.
	URL string
	// StripPrefix nil means true.
	StripPrefix *bool
	// Retryable nil means the global setting.
	Retryable *bool
	// SensitiveHeaders replaces the global ones unless it is nil; an empty list makes no header sensitive.
	SensitiveHeaders *[]string
	// CustomSensitiveHeaders replaces the global sensitive headers even when SensitiveHeaders is nil.
	CustomSensitiveHeaders bool
}

// Problem is something [Build] found wrong in the settings.
type Problem struct {
	// Route is the key of the route at fault; empty for settings that concern all routes.
	Route string
	// Message says what is wrong, with the value in question.
	Message string
	// Fatal problems left something out of the table: do not serve with it. The others are warnings.
	Fatal bool
}

// String returns "route <key>: <message>", or the message alone.
func (p Problem) String() string {
	if p.Route == "" {
		return p.Message
	}
	return "route " + p.Route + ": " + p.Message
}
