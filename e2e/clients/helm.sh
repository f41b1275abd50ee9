#!/bin/bash
# Helm ($HELM): install, upgrade, history, rollback and uninstall of the chart that `helm create` makes.
set -euo pipefail
helm() { "$HELM" --namespace=helm "$@"; }
echo "version $("$HELM" version --template '{{.Version}}' | sed 's/^v//')"
jsonpath() { "$KUBECTL" --namespace=helm get "$1" -o jsonpath="$2"; }

helm create sample
helm install web sample --create-namespace --set replicaCount=2
[ "$(jsonpath deployment/web-sample '{.spec.replicas}')" = 2 ]
helm list -q | grep '^web$'
helm get manifest web | grep 'kind: Deployment'
echo 'checked install'

helm upgrade web sample --set replicaCount=3 --set image.tag=2
[ "$(jsonpath deployment/web-sample '{.spec.replicas}')" = 3 ]
helm upgrade web sample --set replicaCount=4 --dry-run=server > rendered || helm upgrade web sample --set replicaCount=4 --dry-run > rendered
grep 'replicas: 4' rendered
echo 'checked upgrade'

helm rollback web 1
[ "$(jsonpath deployment/web-sample '{.spec.replicas}')" = 2 ]
[ "$(helm history web -o json | grep -o '"revision"' | wc -l)" = 3 ]
echo 'checked rollback'

helm uninstall web
[ -z "$("$KUBECTL" --namespace=helm get deployments,services -o name)" ]
[ -z "$("$KUBECTL" --namespace=helm get secrets -l owner=helm -o name)" ]
echo 'checked uninstall'
