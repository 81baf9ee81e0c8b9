// Package certs keeps the certificates of a listener: it reads them from files and
// follows these, chooses one by the server name that a client asks for, verifies clients'
// certificates, and turns the keys of session tickets over. What is in force is one
// immutable view behind an atomic pointer.
package certs
