#!/bin/sh
# Lints the chart deploy/helm/causeway, renders it with each values file of testdata/helm into the golden file beside it, and checks what
# was rendered against the schemas of Kubernetes (a ServiceMonitor has none there). Run it after each change of the chart; `helm.spec.ts`
# fails until then. Helm and kubeconform are those of the PATH, or are built by Go outside the repository, which takes minutes.
#
#   sh test/deploy/helm.sh
set -eu
cd "$(dirname "$0")/../.."
work=${CAUSEWAY_HELM_FOLDER:-${TMPDIR:-/tmp}/causeway-helm}
chart=deploy/helm/causeway
data=test/deploy/testdata/helm
kubernetes=1.34.4
mkdir -p "$work"

built() { # built NAME PACKAGE@VERSION
  command -v "$1" && return
  [ -x "$work/bin/$1" ] || (cd "$work" && GOBIN=$work/bin GOFLAGS=-mod=mod go install "$2" >&2)
  echo "$work/bin/$1"
}
helm=$(built helm helm.sh/helm/v3/cmd/helm@v3.22.0)
kubeconform=$(built kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0)

# The document that a Kubernetes server gives of itself.
kubernetes_source=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
node test/deploy/kubernetes-schemas.mjs "$kubernetes_source/api/openapi-spec/swagger.json" "$work/schemas"

for values in "$data"/*.values.yaml; do
  golden=${values%.values.yaml}.golden.yaml
  release=$(sed -n 's/^plane: //p' "$values")
  "$helm" lint --quiet --strict --kube-version "$kubernetes" "$chart" -f "$values"
  "$helm" template "$release" "$chart" --namespace causeway --kube-version "$kubernetes" -f "$values" >"$work/rendered.yaml"
  "$kubeconform" -strict -summary -skip ServiceMonitor -schema-location "$work/schemas/{{ .ResourceKind }}.json" "$work/rendered.yaml"
  { echo "# Rendered by test/deploy/helm.sh from a chart with the digest $(node test/deploy/chart-digest.mjs)"; cat "$work/rendered.yaml"; } >"$golden"
done
