package routing

import "strings"

// ParseShorthand reads a route that is written as one string, "users: /myusers/**" or "other: /test/**=http://host:7777/local".
// The id comes from the path, "a/b" for "/a/**/b"; what stays blank gets its default from [Build].
func ParseShorthand(key, value string) RouteSettings {
	path, location, _ := strings.Cut(value, "=")
	path, location = strings.TrimSpace(path), strings.TrimSpace(location)
	if path != "" && path[0] != '/' {
		path = "/" + path
	}
	r := RouteSettings{Key: key, ID: idOf(path), Path: path}
	if isURL(location) {
		r.URL = location
	} else {
		r.ServiceID = location
	}
	return r
}

func isURL(location string) bool {
	scheme, _, found := strings.Cut(location, ":")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// idOf derives a route's id from its path.
func idOf(path string) string {
	id := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/*", "")
	return strings.ReplaceAll(id, "*", "")
}
