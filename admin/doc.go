// Package admin serves the management endpoints in the shapes of Spring Boot's
// actuator (zuul.md 9). They belong on a listener of their own, never on the
// proxy's.
package admin
