import { apiVersionOf } from '../../shared/object/object';
import type { ResourceRow } from '../../shared/api/resources';
import { GROUP } from '../../shared/names';

/** An object without kind and apiVersion. */
interface Body {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The smallest valid object of the row, with the name `minimal` if the kind allows it. Throws for a kind without one. */
export function minimalObject(row: ResourceRow, namespace: string): Body & { readonly kind: string } {
  const make = MINIMAL[row.schema] ?? MINIMAL[row.resource];
  if (make === undefined) throw new Error(`no minimal object for ${row.schema}`);
  const body: Readonly<Record<string, unknown>> = { ...make({ row, namespace }) };
  return {
    kind: row.kind,
    apiVersion: apiVersionOf(row),
    ...body,
    metadata: { name: 'minimal', ...(body['metadata'] as object | undefined) },
  };
}

interface Place {
  readonly row: ResourceRow;
  readonly namespace: string;
}

const labels = { app: 'minimal' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example.com/i:1' }] } };
const runOnce = { spec: { ...template.spec, restartPolicy: 'Never' } };
const workload = (): object => ({ spec: { selector: { matchLabels: labels }, template } });
const empty = (): object => ({});
const service = { namespace: 'default', name: 's' };
const REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIHMMHQCAQAwEjEQMA4GA1UEAwwHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABKKiDOR2vCxcTLkavnU3EToJZyOOuLJ1CcZq1GcdOMMFCVb6mNT8tarB
4lQlzPqrPxcZTcuEBhuXiTOip7zsQe6gADAKBggqhkjOPQQDAgNIADBFAiEA1Uoc
L4q+xRmuslkQvURbp266oBszWmb4AghizvI2U74CIG+A2HLx92lzbWlsfDwtSlIy
MwHJzBHT3KGntb1g/Zoz
-----END CERTIFICATE REQUEST-----
`;

const path = (backend: object): object => ({
  spec: { rules: [{ http: { paths: [{ path: '/', backend }] } }] },
});
const oldIngress = (): object => path({ serviceName: 's', servicePort: 80 });
const event = ({ namespace }: Place): object => ({
  reason: 'R',
  action: 'A',
  type: 'Normal',
  eventTime: '2021-01-02T03:04:05.000001Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  regarding: { kind: 'Pod', apiVersion: 'v1', namespace, name: 'p' },
});
const binding = ({ row }: Place): object => ({
  roleRef: {
    apiGroup: GROUP.rbac,
    kind: row.namespaced ? 'Role' : 'ClusterRole',
    name: 'r',
  },
});
const autoscaler = (): object => ({
  spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
});
const webhook = {
  name: 'a.example.com',
  clientConfig: { service },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const webhooks = (): object => ({ webhooks: [webhook] });
const definition = (spec: object): object => ({
  metadata: { name: 'things.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, ...spec },
});
const attachment = (): object => ({
  spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } },
});

/** Objects by resource, or by message where versions need different objects. */
const MINIMAL: Readonly<Record<string, (place: Place) => object>> = {
  configmaps: empty,
  endpoints: empty,
  'core/v1.Event': ({ namespace }) => ({ involvedObject: { kind: 'Pod', namespace, name: 'p' } }),
  limitranges: () => ({ spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }),
  namespaces: empty,
  nodes: empty,
  persistentvolumeclaims: () => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  persistentvolumes: () => ({
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
  }),
  pods: () => ({ spec: template.spec }),
  podtemplates: () => ({ template }),
  replicationcontrollers: () => ({ spec: { template } }),
  resourcequotas: () => ({ spec: { hard: { pods: '1' } } }),
  secrets: empty,
  serviceaccounts: empty,
  services: () => ({ spec: { ports: [{ port: 80 }] } }),
  mutatingwebhookconfigurations: webhooks,
  validatingwebhookconfigurations: webhooks,
  'apiextensions/v1.CustomResourceDefinition': () =>
    definition({
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    }),
  'apiextensions/v1beta1.CustomResourceDefinition': () =>
    definition({
      version: 'v1',
      validation: { openAPIV3Schema: { type: 'object' } },
      preserveUnknownFields: false,
    }),
  apiservices: () => ({
    metadata: { name: 'v1.example.com' },
    spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
  }),
  controllerrevisions: () => ({ revision: 1, data: { a: 1 } }),
  daemonsets: workload,
  deployments: workload,
  replicasets: workload,
  statefulsets: () => ({ spec: { serviceName: 's', selector: { matchLabels: labels }, template } }),
  horizontalpodautoscalers: autoscaler,
  cronjobs: () => ({ spec: { schedule: '* * * * *', jobTemplate: { spec: { template: runOnce } } } }),
  jobs: () => ({ spec: { template: runOnce } }),
  certificatesigningrequests: () => ({
    spec: {
      request: Buffer.from(REQUEST).toString('base64'),
      signerName: 'example.com/signer',
      usages: ['client auth'],
    },
  }),
  leases: () => ({ spec: { holderIdentity: 'h' } }),
  endpointslices: () => ({ addressType: 'IPv4', endpoints: [] }),
  events: event,
  'extensions/v1beta1.Ingress': oldIngress,
  'networking/v1beta1.Ingress': oldIngress,
  'networking/v1.Ingress': () => ({
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  }),
  ingressclasses: () => ({ spec: { controller: 'example.com/c' } }),
  networkpolicies: () => ({ spec: { podSelector: {} } }),
  flowschemas: () => ({ spec: { priorityLevelConfiguration: { name: 'p' } } }),
  prioritylevelconfigurations: () => ({
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  }),
  storageversions: () => ({ metadata: { name: 'example.com.things' }, spec: {} }),
  runtimeclasses: () => ({ handler: 'h' }),
  'node/v1alpha1.RuntimeClass': () => ({ spec: { runtimeHandler: 'h' } }),
  poddisruptionbudgets: () => ({ spec: { minAvailable: 1, selector: { matchLabels: labels } } }),
  podsecuritypolicies: () => ({
    spec: {
      seLinux: { rule: 'RunAsAny' },
      runAsUser: { rule: 'RunAsAny' },
      supplementalGroups: { rule: 'RunAsAny' },
      fsGroup: { rule: 'RunAsAny' },
    },
  }),
  clusterroles: () => ({ rules: [] }),
  roles: () => ({ rules: [] }),
  clusterrolebindings: binding,
  rolebindings: binding,
  priorityclasses: () => ({ value: 1 }),
  csidrivers: () => ({ spec: {} }),
  csinodes: () => ({ spec: { drivers: [] } }),
  storageclasses: () => ({ provisioner: 'example.com/p' }),
  volumeattachments: attachment,
  csistoragecapacities: () => ({ storageClassName: 'c' }),
};
