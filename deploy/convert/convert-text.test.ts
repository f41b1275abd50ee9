import { parse } from 'yaml';
import { GROUP } from '../../shared/names';
import { convertText } from './convert-text';

function converted(text: string, wanted?: { readonly group: string; readonly version: string }): string {
  const result = convertText(text, wanted);
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result.text;
}

function errorsOf(text: string): readonly string[] {
  const result = convertText(text, undefined);
  return result.ok ? [] : result.errors;
}

const INGRESS = `# The way in.
apiVersion: ${GROUP.networking}/v1beta1
kind: Ingress
metadata:
  name: web # short
  labels: {app: web}
spec:
  backend:
    serviceName: fallback
    servicePort: http
  rules:
    # The shop.
    - host: shop.example.com
      http:
        paths:
          - path: /
            backend:
              serviceName: shop
              servicePort: 80
`;

test('only fields that differ between the versions are rewritten; comments, order and style stay', () => {
  expect(converted(INGRESS)).toBe(`# The way in.
apiVersion: ${GROUP.networking}/v1
kind: Ingress
metadata:
  name: web # short
  labels: { app: web }
spec:
  rules:
    # The shop.
    - host: shop.example.com
      http:
        paths:
          - path: /
            backend:
              service:
                name: shop
                port:
                  number: 80
            pathType: ImplementationSpecific
  defaultBackend:
    service:
      name: fallback
      port:
        name: http
`);
});

test('what was left out and means something else in the other version is written down', () => {
  const text = `apiVersion: ${GROUP.admissionregistration}/v1beta1
kind: ValidatingWebhookConfiguration
metadata: { name: w }
webhooks:
  - name: w.example.com
    clientConfig: { url: "https://w.example.com" }
    admissionReviewVersions: [v1beta1]
    sideEffects: None
`;
  expect(parse(converted(text))).toEqual({
    apiVersion: `${GROUP.admissionregistration}/v1`,
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'w' },
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig: { url: 'https://w.example.com' },
        admissionReviewVersions: ['v1beta1'],
        sideEffects: 'None',
        // v1beta1 lets through, v1 does not, and they match and wait differently.
        failurePolicy: 'Ignore',
        matchPolicy: 'Exact',
        timeoutSeconds: 30,
      },
    ],
  });
});

test.each([
  [
    'CronJob',
    GROUP.batch,
    'v1beta1',
    'v1',
    'spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {containers: [], restartPolicy: Never}}}}}',
  ],
  [
    'PodDisruptionBudget',
    GROUP.policy,
    'v1beta1',
    'v1',
    'spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}',
  ],
  ['Role', GROUP.rbac, 'v1beta1', 'v1', 'rules: []'],
  ['ClusterRoleBinding', GROUP.rbac, 'v1alpha1', 'v1', 'roleRef: {apiGroup: x, kind: ClusterRole, name: r}'],
  ['Lease', GROUP.coordination, 'v1beta1', 'v1', 'spec: {}'],
  ['CSIDriver', GROUP.storage, 'v1beta1', 'v1', 'spec: {}'],
  ['StorageClass', GROUP.storage, 'v1beta1', 'v1', 'provisioner: p'],
  ['PriorityClass', GROUP.scheduling, 'v1beta1', 'v1', 'value: 1'],
  ['RuntimeClass', GROUP.node, 'v1beta1', 'v1', 'handler: h'],
  ['EndpointSlice', GROUP.discovery, 'v1beta1', 'v1', 'addressType: IPv4\nendpoints: []'],
  [
    'CertificateSigningRequest',
    GROUP.certificates,
    'v1beta1',
    'v1',
    'spec: {request: "", signerName: example.com/s}',
  ],
])('%s of %s is taken from %s to %s', (kind, group, from, to, rest) => {
  const text = `apiVersion: ${group}/${from}\nkind: ${kind}\nmetadata:\n  name: x\n${rest}\n`;
  const result = converted(text);
  expect(result).toContain(`apiVersion: ${group}/${to}\n`);
  // What is in the new version already stays as it is.
  expect(converted(result)).toBe(result);
});

test('an autoscaler gets to the version that is asked for and back, and means the same', () => {
  const v1 = `apiVersion: ${GROUP.autoscaling}/v1
kind: HorizontalPodAutoscaler
metadata:
  name: h
spec:
  maxReplicas: 3
  scaleTargetRef:
    kind: Deployment
    name: d
  targetCPUUtilizationPercentage: 70
`;
  const wanted = { group: GROUP.autoscaling, version: 'v2beta2' };
  const v2 = converted(v1, wanted);
  expect(parse(v2)).toMatchObject({
    apiVersion: `${GROUP.autoscaling}/v2beta2`,
    spec: { metrics: [{ resource: { target: { averageUtilization: 70 } } }] },
  });
  expect(parse(converted(v2, { group: GROUP.autoscaling, version: 'v1' }))).toEqual(parse(v1));
});

test('a stream keeps its documents, lists are converted inside, and JSON stays JSON', () => {
  const list = `---
# nothing
---
apiVersion: v1
kind: List
items:
  - apiVersion: ${GROUP.rbac}/v1beta1
    kind: Role
    metadata: { name: a }
    rules: []
---
apiVersion: v1
kind: ConfigMap
metadata: { name: c }
`;
  const stream = converted(list);
  expect(stream).toContain(`  - apiVersion: ${GROUP.rbac}/v1\n`);
  expect(stream.split('---')).toHaveLength(list.split('---').length);
  const json = JSON.stringify({
    apiVersion: `${GROUP.rbac}/v1beta1`,
    kind: 'Role',
    metadata: { name: 'a' },
    rules: [],
  });
  expect(JSON.parse(converted(json))).toMatchObject({ apiVersion: `${GROUP.rbac}/v1` });
});

test('errors name their lines, all at once', () => {
  const text = `apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: ${GROUP.extensions}/v1beta1
kind: Deployment
---
kind: Role
---
apiVersion: ${GROUP.rbac}/v1beta1
kind: Role
rules: 5
---
a: [
`;
  expect(errorsOf(text)).toEqual([
    `5: Deployment is not in ${GROUP.extensions}/v1beta1; it is in ${GROUP.apps}/v1`,
    '8: an object needs apiVersion and kind',
    expect.stringMatching(/^10: Role cannot be converted: /u),
    expect.stringMatching(/^1[45]: /u),
  ]);
});
