// Command gateway is a gateway of one's own: the built-in filters and two more.
package main

import (
	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/examples/apikey"
	"github.com/gozer-gateway/gozer/examples/stamp"
)

func main() { gozer.Main(ownFilters()) }

func ownFilters() gozer.Option { return gozer.WithFilters(apikey.Spec(), stamp.Spec()) }
