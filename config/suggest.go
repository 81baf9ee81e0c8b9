package config

// Nearest returns the name that is spelt most like wanted, "" when none is near.
// Letter case, dashes and underscores do not count.
func Nearest(wanted string, names []string) string {
	best, bestDistance := "", 0
	limit := max(2, len(wanted)/5)
	for _, name := range names {
		d := distance(uniform(wanted), uniform(name), limit)
		if d <= limit && (best == "" || d < bestDistance) {
			best, bestDistance = name, d
		}
	}
	return best
}
