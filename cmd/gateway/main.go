// Command gateway is the Gozer gateway with its built-in filters.
package main

import "github.com/gozer-gateway/gozer"

// version is replaced by the linker, see the Makefile.
var version = "dev"

func main() { gozer.Main(gozer.WithVersion(version)) }
