package gozer

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// registryTLS is the section about the way to registries.
const registryTLS = "eureka.client.tls"

// registryFiles are what registries are called with: the client's, and the peers of the one in
// this process. A nil one leaves everything to the system.
type registryFiles struct {
	files tlsout.Files
	whole atomic.Pointer[registryMaterial] // what they had in them when they were last whole
	wrong atomic.Pointer[string]           // what is wrong with them now; nil: nothing
}

type registryMaterial struct {
	*tlsout.Material
	config *tls.Config
}

// openRegistryFiles reads them, nil if the configuration wants none.
func openRegistryFiles(cfg *config.Config) (*registryFiles, error) {
	c := cfg.Eureka.Client
	if !c.TLS.Enabled || !c.Active() && !cfg.Registry.Enabled {
		return nil, nil
	}
	f := &registryFiles{files: tlsout.Files{TrustCertificate: c.TLS.TrustCertificate, Certificate: c.TLS.Certificate, PrivateKey: c.TLS.PrivateKey}}
	m, err := f.files.Load()
	if problems := fileFindings(cfg, err, registryTLS); len(problems) > 0 {
		return nil, &config.SettingsError{Findings: problems}
	}
	f.use(m)
	return f, nil
}

func (f *registryFiles) use(m *tlsout.Material) { f.whole.Store(&registryMaterial{m, m.Config()}) }

// material is nil for nil.
func (f *registryFiles) material() *tlsout.Material {
	if f == nil {
		return nil
	}
	return f.whole.Load().Material
}

// Config is the same pointer until the files have changed.
func (f *registryFiles) Config() *tls.Config {
	if f == nil {
		return nil
	}
	return f.whole.Load().config
}

// problem is what is wrong with the files, while what they were is in force.
func (f *registryFiles) problem() string {
	if f != nil {
		if wrong := f.wrong.Load(); wrong != nil {
			return *wrong
		}
	}
	return ""
}

// paths lists the files.
func (f *registryFiles) paths() []string {
	if f == nil {
		return nil
	}
	return f.files.Paths()
}

// renew reads the files again. Broken ones leave what there is, which is logged once.
func (f *registryFiles) renew(logger *slog.Logger) {
	if f == nil {
		return
	}
	m, err := f.files.Load()
	switch {
	case err != nil:
		if text := err.Error(); text != f.problem() {
			f.wrong.Store(&text)
			logger.Error("certificates for registries not renewed, the old ones stay", "for", registryTLS, "error", err)
		}
		return
	case !m.Equal(f.material()):
		f.use(m)
		logger.Info("certificates for registries renewed", "for", registryTLS)
	}
	f.wrong.Store(nil)
}

// fileFindings places what is wrong with files at the keys that name them, in the first of the
// sections that has the key.
func fileFindings(cfg *config.Config, err error, sections ...string) (all []config.Finding) {
	for _, problem := range separate(err) {
		broken, ok := errors.AsType[*tlsout.FileError](problem)
		if !ok {
			continue
		}
		f := config.Finding{Severity: config.Error, Message: broken.Error()}
		for _, section := range sections {
			f.Key = section + "." + broken.Part.String()
			if f.Position = cfg.Place(f.Key); f.Position != (config.Position{}) {
				break
			}
		}
		all = append(all, f)
	}
	return all
}
