// Package netlog has what net/http says told without the bytes of messages that it quotes.
package netlog

import (
	"context"
	"log/slog"
	"strings"
)

// Handler returns h for messages of net/http.
func Handler(h slog.Handler) slog.Handler { return unquoting{h} }

type unquoting struct{ slog.Handler }

func (u unquoting) Handle(ctx context.Context, r slog.Record) error {
	r.Message = Unquoted(r.Message)
	return u.Handler.Handle(ctx, r)
}

// Unquoted returns s with an ellipsis in place of what stands in double quotes, as %q writes them.
func Unquoted(s string) string {
	var out strings.Builder
	for {
		before, quoted, found := strings.Cut(s, `"`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(`"…"`)
		s = behind(quoted)
	}
}

// behind is what follows the closing quote, which no backslash stands before.
func behind(quoted string) string {
	for i := 0; i < len(quoted); i++ {
		switch quoted[i] {
		case '\\':
			i++
		case '"':
			return quoted[i+1:]
		}
	}
	return ""
}
