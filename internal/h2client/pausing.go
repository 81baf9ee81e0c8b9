package h2client

import "strings"

// pausing reports that a body of that type comes when there is something to say, and not
// as fast as it can.
func pausing(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/event-stream" || isGRPC(media)
}

func isGRPC(media string) bool {
	rest, ok := strings.CutPrefix(media, "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}
