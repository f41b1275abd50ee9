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

{{/* The metadata of an object. Takes the root, the component, the name, and optionally annotations and labels of this object. */}}
{{- define "orch.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 2 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "orch.labels" . | nindent 2 }}
{{- if gt (len .) 4 }}{{ with index . 4 }}{{ toYaml . | nindent 2 }}{{ end }}{{ end }}
{{- $own := dict }}
{{- if gt (len .) 3 }}{{ $own = index . 3 | default dict }}{{ end }}
{{- with merge dict $own $root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
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
{{- $repository := required "image.repository is required: build the image with `npm run image`, push it to a registry, and name it here (deploy/README.md)" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
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

{{/* How objects are encrypted in the store. By default they are: by a key that is made, unless the user makes all Secrets. */}}
{{- define "orch.encryptionMode" -}}
{{- .Values.encryption.mode | default (ternary "existing" "generated" (eq .Values.certificates.mode "existing")) -}}
{{- end -}}

{{/* The file of the key that signs tokens: cert-manager calls every key tls.key. */}}
{{- define "orch.tokenKeyFile" -}}
{{- if eq .Values.certificates.mode "certManager" -}}tls.key{{- else -}}sa.key{{- end -}}
{{- end -}}

{{/* The first address of a network after its own, of either family: the Service of the API servers in the control plane has it. */}}
{{- define "orch.firstAddress" -}}
{{- $parts := splitList "/" . -}}
{{- $text := first $parts -}}
{{- $isV4 := contains "." $text -}}
{{- $width := ternary 8 16 $isV4 -}}
{{- $groups := list -}}
{{- if $isV4 -}}
{{- $groups = splitList "." $text -}}
{{- else -}}
{{- $halves := splitList "::" $text -}}
{{- $left := without (splitList ":" (first $halves)) "" -}}
{{- $right := without (splitList ":" (rest $halves | join "")) "" -}}
{{- $zeros := list -}}
{{- range until (sub 8 (add (len $left) (len $right)) | int) -}}{{- $zeros = append $zeros "0" -}}{{- end -}}
{{- $groups = concat $left $zeros $right -}}
{{- end -}}
{{- $last := sub (len $groups) 1 -}}
{{- $masked := list -}}
{{- range $index, $group := $groups -}}
{{- $host := min $width (max 0 (sub (mul (add1 $index) $width) (last $parts | int))) -}}
{{- $size := 1 -}}
{{- range until (int $host) -}}{{- $size = mul $size 2 -}}{{- end -}}
{{- $number := ternary ($group | int64) (print "0x" $group | int64) $isV4 -}}
{{- $number = sub $number (mod $number $size) -}}
{{- if eq $index (int $last) -}}{{- $number = add1 $number -}}{{- end -}}
{{- $masked = append $masked (printf (ternary "%d" "%x" $isV4) $number) -}}
{{- end -}}
{{- join (ternary "." ":" $isV4) $masked -}}
{{- end -}}

{{/* The host names of the API servers' Service. */}}
{{- define "orch.apiserverHosts" -}}
{{- $name := printf "%s-apiserver" (include "orch.name" .) -}}
{{- $own := ternary "kubernetes" "orch" (eq .Values.dialect "kubernetes") -}}
{{- $hosts := list "localhost" "127.0.0.1" "::1" -}}
{{- range list (list $name .Release.Namespace) (list $own "default") -}}
{{- $service := index . 0 -}}
{{- $namespace := index . 1 -}}
{{- $hosts = concat $hosts (list $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.%s" $service $namespace $.Values.clusterDomain)) -}}
{{- end -}}
{{- range splitList "," .Values.apiserver.serviceClusterIpRange -}}
{{- $hosts = append $hosts (include "orch.firstAddress" .) -}}
{{- end -}}
{{- with .Values.apiserver.ingress.host -}}{{- $hosts = append $hosts . -}}{{- end -}}
{{- toJson (uniq (concat $hosts .Values.apiserver.extraHosts)) -}}
{{- end -}}

{{/* The host names of etcd's members and of the Service that stands for all of them. */}}
{{- define "orch.etcdHosts" -}}
{{- $service := printf "%s-etcd" (include "orch.name" .) -}}
{{- $suffixes := list .Release.Namespace (printf "%s.svc" .Release.Namespace) (printf "%s.svc.%s" .Release.Namespace .Values.clusterDomain) -}}
{{- $hosts := list "localhost" "127.0.0.1" "::1" -}}
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
help to collect garbage than there are cores beside the main thread's. Maglev, a compiler of Node 22 and later, takes 10 MB and more.
*/}}
{{- define "orch.nodeFlags" -}}
- --max-semi-space-size=8
{{- with .cpu }}
- --v8-pool-size={{ min 4 (max 1 (sub (divf (include "orch.millicores" . | float64) 1000 | ceil | int) 1)) }}
{{- end }}
{{- with .memory }}
- --max-old-space-size={{ div (include "orch.mebibytes" . | int) 2 }}
{{- end }}
- --no-maglev
{{- end -}}

{{/* The security context of a pod. Takes the root and the values of the component, which override those of all pods. */}}
{{- define "orch.podSecurity" -}}
{{- mergeOverwrite (deepCopy (index . 0).Values.podSecurityContext) (index . 1).podSecurityContext | toYaml -}}
{{- end -}}

{{/* The security context of a container. Takes the root and the values of the component. */}}
{{- define "orch.containerSecurity" -}}
{{- mergeOverwrite (deepCopy (index . 0).Values.containerSecurityContext) (index . 1).containerSecurityContext | toYaml -}}
{{- end -}}

{{/* Where pods may be, as the values of a component say. */}}
{{- define "orch.scheduling" -}}
{{- $chosen := dict -}}
{{- range $key, $value := pick . "affinity" "topologySpreadConstraints" "nodeSelector" "tolerations" "priorityClassName" -}}
{{- if $value -}}{{- $_ := set $chosen $key $value -}}{{- end -}}
{{- end -}}
{{- with $chosen -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* Where pods of a replicated component may be: apart from each other, unless its values say otherwise. Takes the root, the component, and its values. */}}
{{- define "orch.placement" -}}
{{- $values := index . 2 -}}
{{- $selector := dict "matchLabels" (include "orch.selector" . | fromYaml) -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" $selector -}}
{{- $apart := dict "preferredDuringSchedulingIgnoredDuringExecution" (list (dict "weight" 100 "podAffinityTerm" $term)) -}}
{{- if eq ($values.antiAffinity | default "preferred") "required" -}}
{{- $apart = dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term) -}}
{{- end -}}
{{- $spread := list (dict "maxSkew" 1 "topologyKey" "topology.kubernetes.io/zone" "whenUnsatisfiable" "ScheduleAnyway" "labelSelector" $selector) -}}
{{- $affinity := $values.affinity | default (dict "podAntiAffinity" $apart) -}}
{{- include "orch.scheduling" (merge (dict "affinity" $affinity "topologySpreadConstraints" ($values.topologySpreadConstraints | default $spread)) $values) -}}
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

{{/*
A pod that runs orch-admin to its end. Takes a dictionary: root, component, args; optionally env, volumes and mounts, serviceAccountName, restartPolicy,
and resources.
*/}}
{{- define "orch.adminPod" -}}
{{- $root := .root -}}
{{- $jobs := $root.Values.jobs -}}
metadata:
  labels: {{- include "orch.podLabels" (list $root .component) | nindent 4 }}
  {{- with $jobs.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- else }}
  automountServiceAccountToken: false
  {{- end }}
  restartPolicy: {{ .restartPolicy | default "OnFailure" }}
  enableServiceLinks: false
  {{- with include "orch.pullSecrets" $root | trim }}{{ . | nindent 2 }}{{- end }}
  securityContext: {{- include "orch.podSecurity" (list $root $jobs) | nindent 4 }}
  {{- with include "orch.scheduling" $jobs }}{{ . | nindent 2 }}{{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "orch.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [node, /opt/orch/dist/bin/orch-admin.js]
      args: {{- toYaml .args | nindent 8 }}
      {{- with .env }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
      resources: {{- toYaml (.resources | default $jobs.resources) | nindent 8 }}
      securityContext: {{- include "orch.containerSecurity" (list $root $jobs) | nindent 8 }}
      volumeMounts: {{- toYaml .mounts | nindent 8 }}
  volumes: {{- toYaml .volumes | nindent 4 }}
{{- end -}}

{{/*
The pod of a Job that uses the API of the control plane as its administrator, or by the certificate of another bundle. Takes what orch.adminPod takes,
without volumes and mounts.
*/}}
{{- define "orch.clientPod" -}}
{{- $name := include "orch.name" .root -}}
{{- $volumes := prepend (include "orch.clientVolume" (list .root (.bundle | default "admin")) | fromYamlArray) (dict "name" "kubeconfig" "configMap" (dict "name" (print $name "-kubeconfig"))) -}}
{{- $mounts := prepend (include "orch.bundleMount" "client" | fromYamlArray) (dict "name" "kubeconfig" "mountPath" "/etc/orch/kubeconfig" "readOnly" true) -}}
{{- include "orch.adminPod" (merge (dict "volumes" $volumes "mounts" $mounts) .) -}}
{{- end -}}
