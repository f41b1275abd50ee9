{{/* A pod with etcd's client certificate and the target of backups. Takes the root, the component, arguments, and lists of volumes and mounts. */}}
{{- define "orch.backupPod" -}}
{{- $root := index . 0 -}}
{{- $target := $root.Values.backup.target -}}
{{- $volumes := append (include "orch.bundleVolume" (list $root "etcd-client") | fromYamlArray) (dict "name" "tmp" "emptyDir" dict) -}}
{{- $mounts := append (include "orch.bundleMount" "etcd-client" | fromYamlArray) (dict "name" "tmp" "mountPath" "/tmp") -}}
{{- $env := list -}}
{{- if eq $target.type "pvc" -}}
{{- $volumes = append $volumes (dict "name" "backups" "persistentVolumeClaim" (dict "claimName" (include "orch.backupClaim" $root))) -}}
{{- $mounts = append $mounts (dict "name" "backups" "mountPath" "/backups") -}}
{{- else -}}
{{- $secret := required "backup.target.s3.secretName is required" $target.s3.secretName -}}
{{- range $variable, $key := dict "AWS_ACCESS_KEY_ID" "accessKeyId" "AWS_SECRET_ACCESS_KEY" "secretAccessKey" -}}
{{- $env = append $env (dict "name" $variable "valueFrom" (dict "secretKeyRef" (dict "name" $secret "key" $key))) -}}
{{- end -}}
{{- end -}}
{{- include "orch.adminPod" (dict "root" $root "component" (index . 1) "args" (index . 2) "env" $env "volumes" (concat $volumes (index . 3)) "mounts" (concat $mounts (index . 4)) "resources" $root.Values.backup.resources) -}}
{{- end -}}

{{- define "orch.backupClaim" -}}
{{- .Values.backup.target.pvc.claimName | default (printf "%s-backup" (include "orch.name" .)) -}}
{{- end -}}

{{/* Flags that name the target, as a JSON list. */}}
{{- define "orch.backupTarget" -}}
{{- $words := list -}}
{{- with .Values.backup.target -}}
{{- if eq .type "pvc" -}}
{{- $words = append $words "--target=/backups" -}}
{{- else -}}
{{- $prefix := .s3.prefix | default (printf "%s/%s" $.Release.Namespace (include "orch.name" $)) -}}
{{- $words = append $words (printf "--target=s3://%s/%s" (required "backup.target.s3.bucket is required" .s3.bucket) $prefix) -}}
{{- $words = append $words (printf "--s3-region=%s" .s3.region) -}}
{{- with .s3.endpoint -}}{{- $words = append $words (printf "--s3-endpoint=%s" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $words -}}
{{- end -}}

{{/* Flags that lead to etcd, as a JSON list. */}}
{{- define "orch.backupEtcd" -}}
{{- toJson (list (printf "--etcd-servers=%s" (include "orch.etcdEndpoints" .)) "--etcd-cafile=/etc/orch/etcd-client/ca.crt" "--etcd-certfile=/etc/orch/etcd-client/tls.crt" "--etcd-keyfile=/etc/orch/etcd-client/tls.key") -}}
{{- end -}}
