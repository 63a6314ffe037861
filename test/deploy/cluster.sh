#!/bin/sh
# Installs the chart deploy/helm/causeway with each values file of testdata/helm into the cluster of $KUBECONFIG, in a namespace that
# Kubernetes holds to its level "restricted" of pod security; changes a setting and back, looks at the PodDisruptionBudget, and takes it
# out again. Needs kubectl and helm ($HELM), and a cluster that may be spoilt: it makes a namespace and, where there is none, a definition of
# ServiceMonitors. Whether the programs run is not asked: an API server with its controllers is enough.
#
#   KUBECONFIG=... sh test/deploy/cluster.sh
set -eu
cd "$(dirname "$0")/../.."
helm=${HELM:-helm}
chart=${CHART:-deploy/helm/causeway}
space=causeway-chart-$$
work=$(mktemp -d)
passed=0

finish() {
  kubectl delete namespace "$space" --wait=false >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

must() { # must WHAT COMMAND...
  what=$1
  shift
  if ! "$@" >"$work/said" 2>&1; then
    echo "FAILED: $what"
    cat "$work/said"
    exit 1
  fi
  passed=$((passed + 1))
  echo "ok      $what"
}

eventually() { # eventually COMMAND...
  for _ in $(seq 120); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.5
  done
  "$@"
}

pods_of() { kubectl -n "$space" get pods -l "app.kubernetes.io/instance=$1" -o name | grep -v '^$' | wc -l; }
has_pods() { [ "$(pods_of "$1")" -ge "$2" ]; }
no_warning() { ! grep -i "would violate\|warning" "$work/installed"; }
none_failed() { [ -z "$(kubectl -n "$space" get events --field-selector reason=FailedCreate -o name)" ]; }
is_gone() { [ -z "$(kubectl -n "$space" get deployment,replicaset,service,configmap,networkpolicy,poddisruptionbudget,serviceaccount -l "app.kubernetes.io/instance=$1" -o name)" ]; }

kubectl create namespace "$space" >/dev/null
kubectl label namespace "$space" pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted >/dev/null
kubectl get crd servicemonitors.monitoring.coreos.com >/dev/null 2>&1 || kubectl create -f - >/dev/null <<'CRD'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: servicemonitors.monitoring.coreos.com }
spec:
  group: monitoring.coreos.com
  names: { kind: ServiceMonitor, plural: servicemonitors }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
CRD

for values in test/deploy/testdata/helm/*.values.yaml; do
  name=$(basename "$values" .values.yaml)
  replicas=$(sed -n 's/^replicas: //p' "$values")
  must "$name: is installed" "$helm" -n "$space" install "$name" "$chart" -f "$values"
  cp "$work/said" "$work/installed"
  must "$name: pod security warns of nothing" no_warning
  must "$name: its pods are admitted" eventually has_pods "$name" "${replicas:-2}"
  must "$name: no pod was refused" none_failed
  kubectl -n "$space" get deployment "$name" -o jsonpath='{.metadata.generation}' >"$work/before"
  must "$name: a setting changes" "$helm" -n "$space" upgrade "$name" "$chart" -f "$values" --set settings.logLevel=debug
  must "$name: and rolls its pods out" eventually sh -c "[ \"\$(kubectl -n $space get deployment $name -o jsonpath='{.metadata.generation}')\" -gt \"\$(cat $work/before)\" ]"
  must "$name: the way back" "$helm" -n "$space" rollback "$name" 1
  must "$name: its disruption budget counts its pods" eventually sh -c "[ \"\$(kubectl -n $space get pdb $name -o jsonpath='{.status.expectedPods}')\" -ge ${replicas:-2} ]"
  must "$name: is taken out" "$helm" -n "$space" uninstall "$name"
  must "$name: and leaves nothing" eventually is_gone "$name"
done
kubectl version -o json | sed -n '/serverVersion/,/}/s/.*"gitVersion": "\(.*\)".*/chart installed on \1/p'
echo "$passed passed, 0 failed"
