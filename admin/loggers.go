package admin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// Loggers has the level of the one logger that there is.
type Loggers interface {
	// Level is one of Spring's names.
	Level() string

	// SetLevel sets one of those, or "" for that of the configuration. It returns false if
	// the level is not the gateway's to set.
	SetLevel(level string) bool
}

// rootLogger is Spring's name of the logger above all others.
const rootLogger = "ROOT"

func logLevels() []string { return []string{"OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"} }

type loggerLevels struct {
	Configured string `json:"configuredLevel"`
	Effective  string `json:"effectiveLevel"`
}

func (a *api) root() loggerLevels {
	level := a.settings.Loggers.Level()
	return loggerLevels{level, level}
}

// loggers lists the one logger in the shape of Spring's endpoint.
func (a *api) loggers(w http.ResponseWriter, r *http.Request) {
	if a.settings.Loggers == nil {
		notFound(w, r)
		return
	}
	write(w, http.StatusOK, map[string]any{
		"levels": logLevels(), "loggers": map[string]loggerLevels{rootLogger: a.root()}, "groups": map[string]any{},
	})
}

func (a *api) logger(w http.ResponseWriter, r *http.Request) {
	if !a.knowsLogger(r) {
		notFound(w, r)
		return
	}
	write(w, http.StatusOK, a.root())
}

// setLogger answers 204, and 400 to what is no level, as Spring does.
func (a *api) setLogger(w http.ResponseWriter, r *http.Request) {
	if !a.knowsLogger(r) {
		notFound(w, r)
		return
	}
	var order struct {
		Level *string `json:"configuredLevel"`
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		fail(w, r, http.StatusBadRequest, "The body is no JSON object with a configuredLevel")
		return
	}
	level := ""
	if order.Level != nil {
		level = strings.ToUpper(*order.Level)
	}
	if level != "" && !slices.Contains(logLevels(), level) {
		fail(w, r, http.StatusBadRequest, "The levels are "+strings.Join(logLevels(), ", ")+"; null takes the configured one")
		return
	}
	if !a.settings.Loggers.SetLevel(level) {
		fail(w, r, http.StatusConflict, "The logger belongs to the program around the gateway")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *api) knowsLogger(r *http.Request) bool {
	return a.settings.Loggers != nil && strings.EqualFold(mux.Vars(r)["name"], rootLogger)
}
