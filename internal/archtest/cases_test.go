package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zuulCases is how many numbered cases the description of Zuul's behaviour has.
const zuulCases = 162

// caseNumbers finds the cases that a text names: "zuul 9", "zuul 121 122", "zuul 20, 22
// and 23". With a dot and a digit behind it the number is that of a section.
func caseNumbers(text string) (numbers []int) {
	mention := regexp.MustCompile(`\bzuul ((?:\d+(?:, | and | ))*\d+)(?:[^.\d]|\.\D|\.?$)`)
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		for _, digits := range regexp.MustCompile(`\d+`).FindAllString(m[1], -1) {
			n, _ := strconv.Atoi(digits)
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Every case has a test that bears its number, or a line in docs/differences.md that
// says what is different.
func TestEveryZuulCaseIsAccountedFor(t *testing.T) {
	named := map[int]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		here := filepath.Base(path) == "cases_test.go" && filepath.Base(filepath.Dir(path)) == "archtest"
		names := strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "differences.md"
		if err != nil || here || !names {
			return err
		}
		text, err := os.ReadFile(path)
		for _, n := range caseNumbers(string(text)) {
			named[n] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= zuulCases; n++ {
		if !named[n] {
			t.Errorf("zuul %d has neither a test nor a line in docs/differences.md", n)
		}
	}
}

func TestCaseNumbers(t *testing.T) {
	const text = `"zuul 9 prefix", zuul 121 122, zuul 20, 22 and 23: no; zuul 3.6; zuul.md 10.1; zuul 35 twice, 7 times. zuul 150.`
	if diff := cmp.Diff([]int{9, 121, 122, 20, 22, 23, 35, 150}, caseNumbers(text)); diff != "" {
		t.Error(diff)
	}
}
