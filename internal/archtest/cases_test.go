package archtest_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// How many numbered cases the descriptions of Zuul's and Hystrix's behaviour have, and
// how many quirks of Hystrix are numbered.
const (
	zuulCases     = 162
	hystrixCases  = 116
	hystrixQuirks = 21
)

// caseNumbers finds the cases of a description that a text names: "zuul 9", "zuul 121
// 122", "Zuul 20, 22 and 23", "hystrix 97 to 108". With a dot and a digit behind it the
// number is that of a section.
func caseNumbers(description, text string) (numbers []int) {
	mention := regexp.MustCompile(`(?i)\b` + description + ` ((?:\d+(?:, | and | to | ))*\d+)(?:[^.\d]|\.\D|\.?$)`)
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		last, through := 0, false
		for word := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r == ' ' || r == ',' }) {
			n, err := strconv.Atoi(word)
			if err != nil {
				through = word == "to"
				continue
			}
			for ; through && last+1 < n; last++ {
				numbers = append(numbers, last+1)
			}
			numbers = append(numbers, n)
			last, through = n, false
		}
	}
	return numbers
}

// ribbonCases are the numbered cases in the description of Ribbon's behaviour.
func ribbonCases() (numbers []int) {
	for n := 1; n <= 153; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// ribbonQuirks are the defects of the same parts, which are corrected here.
func ribbonQuirks() []int {
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45}
}

// quirks finds the defects that a text names: "Q12", "Q9 no news".
func quirks(text string) (numbers []int) {
	for _, m := range regexp.MustCompile(`\bQ(\d+)\b`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		numbers = append(numbers, n)
	}
	return numbers
}

// eurekaCases is how many numbered cases the description of Eureka's behaviour has.
const eurekaCases = 130

// checklist has the letters of the HTTP checklist's ids with the number of rows.
func checklist() map[string]int {
	return map[string]int{"M": 55, "S": 48, "K": 6, "H": 20, "W": 12, "F": 10, "X": 2, "R": 3, "Z": 5}
}

// rowIDs finds the rows of the checklist that a text names: "M07", "H02 to H20".
func rowIDs(text string) (ids []string) {
	mention := regexp.MustCompile(`\b([MSKHWFXRZ])(\d\d)(?: to [MSKHWFXRZ](\d\d))?\b`)
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for n := from; n <= max(from, to); n++ {
			ids = append(ids, fmt.Sprintf("%s%02d", m[1], n))
		}
	}
	return ids
}

// faults are those of other gateways that concern HTTP/1.1, load balancing and the registry, without those of
// authentication, discovery and other things to come.
func faults() []int {
	return []int{
		199, 201, 202, 203, 205, // configuration

		1, 2, 5, 6, 9, 10, 11, 14, 19, 20, 21, 24, 25, 26, 30, 31, 33, 35, 36, 38, 39, 41, 43, 45, 47, 49, 51, 55, 56, 58, 61, 62, 64, 65, 66,
		67, 68, 70, 73, 74, 77, 80, 83, 85, 87, 89, 91, 92, 95, 98, 100, 103, 104, 107, 109, 112, 113, 115, 116, 119, 122, 125, 126, 128, 129, 131, 133, 134, 135, 137, 140, 141, 145, 147, 152, 153, 155, 157,
		159, 161, 162, 167, 169, 172, 174, 175, 176, 179, 181, 183, 186, 188, 190, 192, 194, 196, 198,
		209, 212, 213, 228, 229, 230, 233, 235, 258,
		216, 217, // shutdown
		225, 242, 243, 246, 249, 250, 251,
		221, 227, // observability
	}
}

// accounts are the texts of all tests, and of the list of what is different.
func accounts(t *testing.T) string {
	t.Helper()
	return accountsIn(t, "../..")
}

func accountsIn(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		here := filepath.Base(path) == "cases_test.go" && filepath.Base(filepath.Dir(path)) == "archtest"
		names := strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "differences.md"
		if err != nil || here || !names {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// Every case has a test that bears its number, or a line in docs/differences.md that
// says what is different.
func TestEveryZuulCaseIsAccountedFor(t *testing.T) {
	named := caseNumbers("zuul", accounts(t))
	for n := 1; n <= zuulCases; n++ {
		if !slices.Contains(named, n) {
			t.Errorf("zuul %d has neither a test nor a line in docs/differences.md", n)
		}
	}
}

// The same goes for Hystrix' cases and defects. Ribbon's defects have numbers too, so
// only the packages that know Hystrix are asked, and the rows that name it.
func TestEveryHystrixCaseIsAccountedFor(t *testing.T) {
	named := caseNumbers("hystrix", accounts(t))
	for n := 1; n <= hystrixCases; n++ {
		if !slices.Contains(named, n) {
			t.Errorf("hystrix %d has neither a test nor a line in docs/differences.md", n)
		}
	}
	corrected := quirks(accountsIn(t, "../../ribboncmd") + accountsIn(t, "../../admin") + accountsIn(t, "../window"))
	for line := range strings.Lines(accountsIn(t, "../../docs")) {
		if strings.Contains(line, "hystrix ") {
			corrected = append(corrected, quirks(line)...)
		}
	}
	for n := 1; n <= hystrixQuirks; n++ {
		if !slices.Contains(corrected, n) {
			t.Errorf("Q%d of Hystrix has neither a test nor a line in docs/differences.md", n)
		}
	}
}

// The same goes for Ribbon's cases and defects.
func TestEveryRibbonCaseIsAccountedFor(t *testing.T) {
	all := accounts(t)
	named, corrected := caseNumbers("ribbon", all), quirks(all)
	for _, n := range ribbonCases() {
		if !slices.Contains(named, n) {
			t.Errorf("ribbon %d has neither a test nor a line in docs/differences.md", n)
		}
	}
	for _, n := range ribbonQuirks() {
		if !slices.Contains(corrected, n) {
			t.Errorf("Q%d has neither a test nor a line in docs/differences.md", n)
		}
	}
}

// The same goes for Eureka's cases.
func TestEveryEurekaCaseIsAccountedFor(t *testing.T) {
	named := caseNumbers("eureka", accounts(t))
	for n := 1; n <= eurekaCases; n++ {
		if !slices.Contains(named, n) {
			t.Errorf("eureka %d has neither a test nor a line in docs/differences.md", n)
		}
	}
}

// The same goes for the rows of the HTTP checklist.
func TestEveryRowOfHTTPIsAccountedFor(t *testing.T) {
	named := rowIDs(accounts(t))
	for letter, rows := range checklist() {
		for n := 1; n <= rows; n++ {
			if id := fmt.Sprintf("%s%02d", letter, n); !slices.Contains(named, id) {
				t.Errorf("http %s has neither a test nor a line in docs/differences.md", id)
			}
		}
	}
}

// faultsOfHTTP2 are those that clients' HTTP/2 has brought.
func faultsOfHTTP2() []int { return []int{116, 119, 121, 216, 217} }

// And for the faults of other gateways.
func TestEveryFaultIsAccountedFor(t *testing.T) {
	all := accounts(t)
	for _, n := range append(faults(), faultsOfHTTP2()...) {
		if id := fmt.Sprintf("C%03d", n); !strings.Contains(all, id) {
			t.Errorf("%s has neither a test nor a line in docs/differences.md", id)
		}
	}
}

func TestCaseNumbers(t *testing.T) {
	const text = `"zuul 9 prefix", zuul 121 122, zuul 20, 22 and 23: no; zuul 3.6; zuul.md 10.1; zuul 35 twice, 7 times. zuul 150.`
	if diff := cmp.Diff([]int{9, 121, 122, 20, 22, 23, 35, 150}, caseNumbers("zuul", text)); diff != "" {
		t.Error(diff)
	}
}

func TestCaseRanges(t *testing.T) {
	const text = `hystrix 1; hystrix 5, 97 to 99, 111; hystrix 3.5`
	if diff := cmp.Diff([]int{1, 5, 97, 98, 99, 111}, caseNumbers("hystrix", text)); diff != "" {
		t.Error(diff)
	}
}

func TestRowIDs(t *testing.T) {
	const text = `"M07 S13 both", K02; "C030", XM07, M070, R01 to R03. M1`
	if diff := cmp.Diff([]string{"M07", "S13", "K02", "R01", "R02", "R03"}, rowIDs(text)); diff != "" {
		t.Error(diff)
	}
}
