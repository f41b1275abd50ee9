{{/* The plan of `orch-admin certs`, as YAML. Names of bundles are those of their Secrets. */}}
{{- define "orch.certificatePlan" -}}
{{- $days := .Values.certificates.validDays -}}
{{- $names := ternary "system:kube-controller-manager" "system:controller-manager" (eq .Values.dialect "kubernetes") -}}
authorities:
  {{- range $bundle := list "serving-ca" "client-ca" "front-proxy-ca" "etcd-ca" }}
  {{- if or (ne $bundle "etcd-ca") $.Values.etcd.enabled }}
  - { name: {{ include "orch.secret" (list $ $bundle) }}, commonName: orch-{{ $bundle }}, validDays: {{ $.Values.certificates.authorityValidDays }} }
  {{- end }}
  {{- end }}
certificates:
  - name: {{ include "orch.secret" (list . "serving") }}
    authority: {{ include "orch.secret" (list . "serving-ca") }}
    commonName: orch-apiserver
    hosts: {{ include "orch.apiserverHosts" . }}
    usages: [server]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "admin") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: admin
    organizations: ['{{ ternary "kubeadm" "orch" (eq .Values.dialect "kubernetes") }}:cluster-admins']
    usages: [client]
    validDays: {{ $days }}
  # Passes every authorizer: for emergencies, and for the Job that binds the group of administrators.
  - name: {{ include "orch.secret" (list . "super-admin") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: super-admin
    organizations: ['system:masters']
    usages: [client]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "monitoring") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: monitoring
    organizations: ['system:monitoring']
    usages: [client]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "front-proxy-client") }}
    authority: {{ include "orch.secret" (list . "front-proxy-ca") }}
    commonName: front-proxy-client
    usages: [client]
    validDays: {{ $days }}
  # No superuser: `orch-admin bindings ensure` binds this user to the rights that kubelets ask for.
  - name: {{ include "orch.secret" (list . "kubelet-client") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: orch-apiserver-kubelet-client
    usages: [client]
    validDays: {{ $days }}
  {{- if eq .Values.redis.mode "chart" }}
  - name: {{ include "orch.secret" (list . "redis-server") }}
    authority: {{ include "orch.secret" (list . "serving-ca") }}
    commonName: orch-redis
    hosts: {{ include "orch.redisHosts" . }}
    usages: [server]
    validDays: {{ $days }}
    restart: {{ include "orch.name" . }}-redis
  {{- end }}
  {{- if .Values.controllerManager.replicas }}
  - name: {{ include "orch.secret" (list . "controller-manager") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: {{ $names | quote }}
    usages: [client]
    validDays: {{ $days }}
    restart: {{ include "orch.name" . }}-controller-manager
  {{- end }}
  {{- if .Values.etcd.enabled }}
  - name: {{ include "orch.secret" (list . "etcd-server") }}
    authority: {{ include "orch.secret" (list . "etcd-ca") }}
    commonName: orch-etcd
    hosts: {{ include "orch.etcdHosts" . }}
    usages: [server, client]
    validDays: {{ $days }}
    restartForTrust: {{ include "orch.name" . }}-etcd
  - name: {{ include "orch.secret" (list . "etcd-client") }}
    authority: {{ include "orch.secret" (list . "etcd-ca") }}
    commonName: orch-apiserver
    usages: [client]
    validDays: {{ $days }}
  {{- end }}
tokenKeys:
  - {{ include "orch.secret" (list . "service-account") }}
{{- end -}}

{{/*
What cert-manager cannot make: the encryption key and passwords, and the record of what was made. Empty if the Job has nothing to make, because the
user makes all Secrets or cert-manager makes all that are needed.
*/}}
{{- define "orch.keyPlan" -}}
{{- $isEncrypting := eq (include "orch.encryptionMode" .) "generated" -}}
{{- $hasRedis := and (eq .Values.redis.mode "chart") (ne .Values.certificates.mode "existing") -}}
{{- if or (eq .Values.certificates.mode "generated") $isEncrypting $hasRedis -}}
record: {{ include "orch.secret" (list . "record") }}
{{- if $isEncrypting }}
encryptionKeys:
  - { name: {{ include "orch.secret" (list . "encryption") }}, resources: {{ toJson .Values.encryption.resources }} }
{{- end }}
{{- if $hasRedis }}
passwords:
  - {{ include "orch.secret" (list . "redis-password") }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The pod that creates, renews or rotates bundles. Takes the root, and a command of `orch-admin` with its flags. */}}
{{- define "orch.certificatesPod" -}}
{{- $root := index . 0 -}}
{{- $name := include "orch.name" $root -}}
{{- $labels := printf "--secrets-labels=app.kubernetes.io/part-of=orch,app.kubernetes.io/instance=%s" $root.Release.Name -}}
{{- $args := concat (index . 1) (list "--plan=/etc/orch/plan/plan.yaml" (print "--secrets-namespace=" $root.Release.Namespace) $labels) -}}
{{- /* The dialect of the host cluster, whose Secrets these are. */ -}}
{{- $env := list (dict "name" "ORCH_DIALECT" "value" "kubernetes") -}}
{{- $volumes := list (dict "name" "plan" "configMap" (dict "name" (print $name "-certificate-plan"))) -}}
{{- $mounts := list (dict "name" "plan" "mountPath" "/etc/orch/plan" "readOnly" true) -}}
{{- include "orch.adminPod" (dict "root" $root "component" "certificates" "args" $args "env" $env "volumes" $volumes "mounts" $mounts "serviceAccountName" (print $name "-certificates")) -}}
{{- end -}}
