package config

import (
	"regexp"
	"strings"
)

var (
	userInfo    = regexp.MustCompile(`[^\s/@,]+:[^\s/@,]*@`)
	secretQuery = regexp.MustCompile(`(?i)([\w-]*(?:password|secret|token|key)[\w-]*=)[^&\s]+`)
)

const (
	hidden   = "(hidden value)"
	maxShown = 80
)

// isSecret tells whether the value under a key must never be shown.
func isSecret(key string) bool {
	key = uniform(key)
	for _, word := range []string{"password", "passwd", "secret", "token", "credential", "authorization", "apikey", "privatekey"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// quote gives the value for a message. What came out of a placeholder is shown as the
// placeholder, since it may be anything.
func (n *node) quote() string {
	text := n.text
	if n.raw != "" {
		text = n.raw
	}
	if n.secret {
		return hidden
	}
	return `"` + redact(text) + `"`
}

// redact hides credentials in URLs and cuts long text.
func redact(text string) string {
	text = userInfo.ReplaceAllString(text, "***@")
	text = secretQuery.ReplaceAllString(text, "${1}***")
	text = strings.Map(printable, text)
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
