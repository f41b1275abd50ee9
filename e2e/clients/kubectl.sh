#!/bin/bash
# kubectl ($KUBECTL): client-side and server-side apply, diff, rollout, watch, explain, and what a user types first.
set -euo pipefail
namespace=kubectl-$$
kubectl() { "$KUBECTL" --namespace="$namespace" "$@"; }
echo "version $("$KUBECTL" version --client -o json | sed -n 's/.*"gitVersion": "v\([^"]*\)".*/\1/p')"

kubectl create namespace "$namespace"
cat > web.yaml <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "nginx:1" }] }
YAML
kubectl apply -f web.yaml
kubectl apply -f web.yaml | grep unchanged
kubectl apply --server-side --force-conflicts -f web.yaml | grep serverside-applied
sed -i 's/nginx:1/nginx:2/' web.yaml
kubectl diff -f web.yaml > changes || [ $? = 1 ]
grep '^+.*nginx:2' changes
kubectl apply -f web.yaml | grep configured
echo 'checked apply and diff'

kubectl scale deployment web --replicas=3
kubectl set image deployment/web web=nginx:3
kubectl get deployment web -o jsonpath='{.spec.replicas} {.spec.template.spec.containers[0].image}' | grep '^3 nginx:3$'
kubectl rollout restart deployment/web
kubectl get deployments | grep '^NAME *READY'
kubectl describe deployment web | grep 'Image: *nginx:3'
kubectl explain deployment.spec.replicas | grep replicas
kubectl api-resources | grep deployments
echo 'checked scale, get, describe and explain'

# Not by the function, whose shell would be killed in place of kubectl.
"$KUBECTL" --namespace="$namespace" get configmaps --watch -o name > watched &
watch=$!
until kubectl create configmap a --from-literal=key=value --dry-run=client -o yaml | kubectl apply -f - \
  && grep -q '^configmap/a$' watched; do sleep 0.1; done
kubectl delete configmap a
kill "$watch"
echo 'checked watch'
