// Package accesslog writes a line for each request that has been answered: as JSON, in
// the combined format, or by a pattern in the notation of Tomcat. A [Log] makes the
// lines on the requests' goroutines, a [Writer] takes them to a file or to standard
// output on one of its own, so that no request waits for a disk or a pipe.
package accesslog
