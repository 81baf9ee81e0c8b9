package grpc

import "strings"

// EncodeMessage makes a text a value of grpc-message: bytes other than printable ASCII, and
// the percent sign, become %XX.
func EncodeMessage(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
