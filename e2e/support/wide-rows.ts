/**
 * The output of `kubectl get <kinds> -o wide` for the examples, by the last part of their namespace ('' for cluster-scoped kinds): header and
 * rows with one space between columns, and AGE, TIME, PORT, UID and 10.0.0.N for values that differ between runs.
 */
export const WIDE_ROWS: readonly (readonly [kinds: string, space: string, rows: readonly string[]])[] = [
  ['ns', '', ['NAME STATUS AGE', 'shop-data Active AGE', 'shop-jobs Active AGE', 'shop-web Active AGE']],
  ['pc', '', ['NAME VALUE GLOBAL-DEFAULT AGE', 'shop-batch 100 false AGE', 'shop-critical 100000 false AGE']],
  [
    'sc',
    '',
    [
      'NAME PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE ALLOWVOLUMEEXPANSION AGE',
      'shop-fast ebs.csi.aws.com Retain WaitForFirstConsumer true AGE',
    ],
  ],
  ['runtimeclass', '', ['NAME HANDLER AGE', 'shop-sandboxed runsc AGE']],
  [
    'ingressclass',
    '',
    [
      'NAME CONTROLLER PARAMETERS AGE',
      'shop-nginx k8s.io/ingress-nginx IngressParameters.k8s.example.com/external AGE',
    ],
  ],
  [
    'pv',
    '',
    [
      'NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS REASON AGE VOLUMEMODE',
      'shop-backups 100Gi ROX,RWX Retain Pending manual AGE Filesystem',
      'shop-local-ssd 375Gi RWO Retain Pending shop-fast AGE Block',
    ],
  ],
  [
    'csidriver',
    '',
    [
      'NAME ATTACHREQUIRED PODINFOONMOUNT STORAGECAPACITY TOKENREQUESTS REQUIRESREPUBLISH MODES AGE',
      'shop.csi.example.com false true false <unset> false Persistent,Ephemeral AGE',
    ],
  ],
  [
    'psp',
    '',
    [
      'NAME PRIV CAPS SELINUX RUNASUSER FSGROUP SUPGROUP READONLYROOTFS VOLUMES',
      'shop-restricted false RunAsAny MustRunAsNonRoot MustRunAs MustRunAs false configMap,emptyDir,projected,secret,persistentVolumeClaim',
    ],
  ],
  ['validatingwebhookconfigurations', '', ['NAME WEBHOOKS AGE', 'shop-policy 1 AGE']],
  ['mutatingwebhookconfigurations', '', ['NAME WEBHOOKS AGE', 'shop-defaults 1 AGE']],
  ['clusterrole', '', ['NAME CREATED AT', 'shop-monitoring TIME', 'shop-node-metrics TIME']],
  [
    'clusterrolebinding',
    '',
    [
      'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      'shop-monitoring ClusterRole/shop-monitoring AGE operators shop-jobs/reporter',
    ],
  ],
  ['sa', 'web', ['NAME SECRETS AGE', 'default 0 AGE', 'storefront 0 AGE']],
  ['role', 'web', ['NAME CREATED AT', 'config-reader TIME']],
  [
    'rolebinding',
    'web',
    [
      'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      'storefront-reads-config Role/config-reader AGE jane shop-web/storefront',
    ],
  ],
  ['quota', 'jobs', ['NAME AGE REQUEST LIMIT', 'best-effort AGE', 'compute AGE']],
  ['limits', 'jobs', ['NAME CREATED AT', 'container-limits TIME']],
  ['cm', 'web', ['NAME DATA AGE', 'storefront-config 4 AGE']],
  [
    'secret',
    'web',
    [
      'NAME TYPE DATA AGE',
      'registry-login kubernetes.io/dockerconfigjson 1 AGE',
      'storefront-secrets Opaque 2 AGE',
      'storefront-tls kubernetes.io/tls 2 AGE',
    ],
  ],
  [
    'deploy',
    'web',
    [
      'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR',
      'storefront 0/3 0 0 AGE web,log-shipper registry.example/shop/storefront:2.4.1,registry.example/fluent-bit:1.7 app.kubernetes.io/name=storefront',
    ],
  ],
  [
    'svc',
    'web',
    [
      'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR',
      'mail ExternalName <none> smtp.example.com <none> AGE <none>',
      'payments ClusterIP 10.0.0.N <none> 443/TCP AGE <none>',
      'storefront ClusterIP 10.0.0.N <none> 80/TCP,9090/TCP AGE app.kubernetes.io/name=storefront',
      'storefront-public LoadBalancer 10.0.0.N <pending> 443:PORT/TCP AGE app.kubernetes.io/name=storefront',
    ],
  ],
  [
    'svc',
    'data',
    [
      'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR',
      'database ClusterIP None <none> 5432/TCP AGE app=database',
      'database-admin NodePort 10.0.0.N <none> 5432:PORT/TCP AGE app=database,role=primary',
    ],
  ],
  [
    'ingresses.networking.k8s.io',
    'web',
    ['NAME CLASS HOSTS ADDRESS PORTS AGE', 'storefront shop-nginx shop.example.com 80, 443 AGE'],
  ],
  [
    'hpa',
    'jobs',
    [
      'NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE',
      'worker Deployment/worker <unknown>/60% 1 8 0 AGE',
    ],
  ],
  [
    'hpa',
    'web',
    [
      'NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE',
      'storefront Deployment/storefront <unknown>/250, <unknown>/70% 3 12 0 AGE',
    ],
  ],
  ['pdb', 'web', ['NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE', 'storefront 50% N/A 0 AGE']],
  ['pdb', 'data', ['NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE', 'database N/A 1 0 AGE']],
  [
    'netpol',
    'web',
    ['NAME POD-SELECTOR AGE', 'default-deny <none> AGE', 'storefront app.kubernetes.io/name=storefront AGE'],
  ],
  ['netpol', 'data', ['NAME POD-SELECTOR AGE', 'database app in (database) AGE']],
  ['sts', 'data', ['NAME READY AGE CONTAINERS IMAGES', 'database 0/3 AGE postgres postgres:13.2']],
  [
    'pvc',
    'data',
    [
      'NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS AGE VOLUMEMODE',
      'backups Pending manual AGE Filesystem',
    ],
  ],
  [
    'rs',
    'data',
    [
      'NAME DESIRED CURRENT READY AGE CONTAINERS IMAGES SELECTOR',
      'cache 2 0 0 AGE redis redis:6.2-alpine app=cache,tier notin (web)',
    ],
  ],
  [
    'rc',
    'data',
    [
      'NAME DESIRED CURRENT READY AGE CONTAINERS IMAGES SELECTOR',
      'legacy 1 0 0 AGE memcached memcached app=legacy',
    ],
  ],
  [
    'cj',
    'jobs',
    [
      'NAME SCHEDULE SUSPEND ACTIVE LAST SCHEDULE AGE CONTAINERS IMAGES SELECTOR',
      'daily-report 15 3 * * * False 0 <none> AGE report registry.example/shop/report:1.9 <none>',
      'hourly-cleanup @hourly True 0 <none> AGE cleanup registry.example/shop/cleanup:1.0 <none>',
    ],
  ],
  [
    'job',
    'jobs',
    [
      'NAME COMPLETIONS DURATION AGE CONTAINERS IMAGES SELECTOR',
      'import 0/5 AGE import registry.example/shop/import:3 controller-uid=UID',
    ],
  ],
  [
    'ds',
    'jobs',
    [
      'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE CONTAINERS IMAGES SELECTOR',
      'node-agent 0 0 0 0 0 kubernetes.io/os=linux AGE agent quay.io/prometheus/node-exporter:v1.1.2 name=node-agent',
    ],
  ],
  ['lease', 'jobs', ['NAME HOLDER AGE', 'worker-leader worker-0 AGE']],
  ['ep', 'web', ['NAME ENDPOINTS AGE', 'payments 198.51.100.20:8443,198.51.100.10:8443 AGE']],
  [
    'endpointslice',
    'web',
    ['NAME ADDRESSTYPE PORTS ENDPOINTS AGE', 'search-1 IPv4 9200 198.51.100.31,198.51.100.32 AGE'],
  ],
  [
    'po',
    'web',
    [
      'NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES',
      'debug 0/1 Pending 0 AGE <none> <none> <none> <none>',
    ],
  ],
  [
    'podtemplate',
    'web',
    ['NAME CONTAINERS IMAGES POD LABELS', 'maintenance page nginx:1.20 app=maintenance'],
  ],
];
