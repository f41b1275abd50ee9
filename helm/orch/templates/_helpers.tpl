{{/* What the names of all objects begin with. */}}
{{- define "orch.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains "orch" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-orch" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component. Takes the root and the component. */}}
{{- define "orch.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: orch
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "orch.labels" -}}
{{- $root := index . 0 -}}
{{ include "orch.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: orch
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of pods: nothing that changes with the chart's version alone, which would start them again. */}}
{{- define "orch.podLabels" -}}
{{- $root := index . 0 -}}
{{ include "orch.selector" . }}
app.kubernetes.io/part-of: orch
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "orch.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The image of another project. Takes its values. */}}
{{- define "orch.imageOf" -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag }}{{- end -}}
{{- end -}}

{{/* The name of the Secret of a bundle. Takes the root and the bundle. */}}
{{- define "orch.secret" -}}
{{- $root := index . 0 -}}
{{- get $root.Values.certificates.secretNames (index . 1) | default (printf "%s-%s" (include "orch.name" $root) (index . 1)) -}}
{{- end -}}

{{/* The file of the key that signs tokens: cert-manager calls every key tls.key. */}}
{{- define "orch.tokenKeyFile" -}}
{{- if eq .Values.certificates.mode "certManager" -}}tls.key{{- else -}}sa.key{{- end -}}
{{- end -}}

{{/* The host names of the API servers' Service. */}}
{{- define "orch.apiserverHosts" -}}
{{- $name := printf "%s-apiserver" (include "orch.name" .) -}}
{{- $own := ternary "kubernetes" "orch" (eq .Values.dialect "kubernetes") -}}
{{- $hosts := list "localhost" "127.0.0.1" -}}
{{- range list (list $name .Release.Namespace) (list $own "default") -}}
{{- $service := index . 0 -}}
{{- $namespace := index . 1 -}}
{{- $hosts = concat $hosts (list $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.%s" $service $namespace $.Values.clusterDomain)) -}}
{{- end -}}
{{- if regexMatch "^\\d+\\.\\d+\\.\\d+\\.\\d+/\\d+$" .Values.apiserver.serviceClusterIpRange -}}
{{- $octets := splitList "." (first (splitList "/" .Values.apiserver.serviceClusterIpRange)) -}}
{{- $hosts = append $hosts (printf "%s.%s.%s.%d" (index $octets 0) (index $octets 1) (index $octets 2) (add1 (atoi (index $octets 3)))) -}}
{{- end -}}
{{- with .Values.apiserver.ingress.host -}}{{- $hosts = append $hosts . -}}{{- end -}}
{{- toJson (uniq (concat $hosts .Values.apiserver.extraHosts)) -}}
{{- end -}}

{{/* The host names of etcd's members and of the Service that stands for all of them. */}}
{{- define "orch.etcdHosts" -}}
{{- $service := printf "%s-etcd" (include "orch.name" .) -}}
{{- $suffixes := list .Release.Namespace (printf "%s.svc" .Release.Namespace) (printf "%s.svc.%s" .Release.Namespace .Values.clusterDomain) -}}
{{- $hosts := list "localhost" "127.0.0.1" -}}
{{- range $suffix := $suffixes -}}
{{- $hosts = append $hosts (printf "%s.%s" $service $suffix) -}}
{{- end -}}
{{- range $index := until (int .Values.etcd.members) -}}
{{- range $suffix := $suffixes -}}
{{- $hosts = append $hosts (printf "%s-%d.%s.%s" $service $index $service $suffix) -}}
{{- end -}}
{{- end -}}
{{- toJson $hosts -}}
{{- end -}}

{{/* The host names of the Service of Redis. */}}
{{- define "orch.redisHosts" -}}
{{- $service := printf "%s-redis" (include "orch.name" .) -}}
{{- toJson (list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.%s" $service .Release.Namespace .Values.clusterDomain)) -}}
{{- end -}}

{{/* The Secret whose ca.crt verifies Redis; empty without one. */}}
{{- define "orch.redisAuthoritySecret" -}}
{{- if eq .Values.redis.mode "chart" -}}{{ include "orch.secret" (list . "redis-server") }}
{{- else if and (eq .Values.redis.mode "external") .Values.redis.external.hasAuthority -}}{{ .Values.redis.external.secretName }}
{{- end -}}
{{- end -}}

{{- define "orch.etcdEndpoints" -}}
{{- if .Values.etcd.enabled -}}
{{- $service := printf "%s-etcd" (include "orch.name" .) -}}
{{- $endpoints := list -}}
{{- range $index := until (int .Values.etcd.members) -}}
{{- $endpoints = append $endpoints (printf "https://%s-%d.%s.%s.svc:2379" $service $index $service $.Release.Namespace) -}}
{{- end -}}
{{- join "," $endpoints -}}
{{- else -}}
{{- join "," .Values.etcd.external.endpoints -}}
{{- end -}}
{{- end -}}

{{/* Whether API servers talk to etcd over TLS with a client certificate. */}}
{{- define "orch.etcdTls" -}}
{{- if or .Values.etcd.enabled .Values.etcd.external.tls -}}true{{- end -}}
{{- end -}}

{{/* Thousandths of a core, of a quantity like 2, 0.5 or 250m. */}}
{{- define "orch.millicores" -}}
{{- $text := toString . -}}
{{- if hasSuffix "m" $text -}}{{ trimSuffix "m" $text | int }}{{- else -}}{{ mulf (float64 $text) 1000 | int }}{{- end -}}
{{- end -}}

{{/* MiB, rounded down, of a quantity of memory. */}}
{{- define "orch.mebibytes" -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9.]+" $text | float64 -}}
{{- $unit := regexReplaceAll "^[0-9.]+" $text "" -}}
{{- $bytes := get (dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) $unit -}}
{{- if not $bytes -}}{{- fail (printf "%s is no quantity of memory that this chart reads" $text) -}}{{- end -}}
{{- divf (mulf $number $bytes) 1048576 | floor | int -}}
{{- end -}}

{{/*
Flags of Node as a list, from a container's limits. The watch cache lies outside of the heap, which gets a half of the memory; no more threads
help to collect garbage than there are cores beside the main thread's.
*/}}
{{- define "orch.nodeFlags" -}}
- --max-semi-space-size=8
{{- with .cpu }}
- --v8-pool-size={{ min 4 (max 1 (sub (divf (include "orch.millicores" . | float64) 1000 | ceil | int) 1)) }}
{{- end }}
{{- with .memory }}
- --max-old-space-size={{ div (include "orch.mebibytes" . | int) 2 }}
{{- end }}
{{- end -}}

{{- define "orch.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "orch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where pods of a component may be. Takes the root, the component, and its values. */}}
{{- define "orch.placement" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
affinity:
  podAntiAffinity:
    {{- if eq ($values.antiAffinity | default "preferred") "required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "orch.selector" (list $root $component) | nindent 12 }}
    {{- else }}
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "orch.selector" (list $root $component) | nindent 14 }}
    {{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "orch.selector" (list $root $component) | nindent 8 }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "orch.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* A volume of the Secret of a bundle, which the group may read. Takes the root and the bundle. */}}
{{- define "orch.bundleVolume" -}}
- name: {{ index . 1 }}
  secret:
    secretName: {{ include "orch.secret" . }}
    defaultMode: 0440
{{- end -}}

{{/* The mount of a bundle's volume. */}}
{{- define "orch.bundleMount" -}}
- name: {{ . }}
  mountPath: /etc/orch/{{ . }}
  readOnly: true
{{- end -}}

{{/* The volume that the kubeconfig refers to: a client's certificate, and the authority of the API servers. Takes the root and the bundle. */}}
{{- define "orch.clientVolume" -}}
- name: client
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ include "orch.secret" . }}
          items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }]
      - secret:
          name: {{ include "orch.secret" (list (index . 0) "serving") }}
          items: [{ key: ca.crt, path: serving-ca.crt }]
{{- end -}}
