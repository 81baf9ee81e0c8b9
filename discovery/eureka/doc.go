// Package eureka speaks Netflix Eureka: the model of its wire protocol, the codecs
// for it, and a client that is a [discovery.Source] and registers this process.
//
// The section numbers in comments are those of the description of Eureka's behaviour
// that docs/discovery.md sums up.
package eureka
