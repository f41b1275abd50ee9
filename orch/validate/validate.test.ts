import { startControlPlane } from '../../package/control-plane';
import type { ControlPlane, ControlPlaneSnapshot } from '../../package/types';
import { PLUGINS_OFF, validateManifests } from './validate';
import type { Inputs } from './validate';

let plane: ControlPlane;
let beginning: ControlPlaneSnapshot;

beforeAll(async () => {
  plane = await startControlPlane({
    controllers: false,
    listen: false,
    flags: { 'disable-admission-plugins': PLUGINS_OFF },
  });
  beginning = plane.snapshot();
});

beforeEach(async () => plane.restore(beginning));

afterAll(async () => plane.stop());

const DEFINITION = `apiVersion: apiextensions.orch/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://localhost/none'}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [min]
              properties:
                min: {type: integer}
                labels: {type: object, additionalProperties: {type: string, maxLength: 3}}
`;

const file = (text: string, name = 'm.yaml'): { name: string; text: string } => ({ name, text });
const widget = (spec: string): string =>
  `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: ${spec}\n`;

/** The findings as lines. */
async function findings(inputs: Partial<Inputs>): Promise<readonly string[]> {
  const { findings: found } = await validateManifests(plane, {
    manifests: [],
    definitions: [],
    old: [],
    ...inputs,
  });
  return found.map(
    ({ file: name, line, severity, field = '', message }) =>
      `${name}:${line} ${severity} ${field} ${message}`,
  );
}

describe('built-in kinds', () => {
  test('findings have the line of their field, with unknown fields', async () => {
    const text = `# a comment
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels:
    example.com/a.b: '-'
spec:
  priorityClassName: high
  containers:
    - name: c
      image: i
      nme: x
    - name: C
      image: i
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: none}
data: {a: b}
`;
    expect(await findings({ manifests: [file(text)] })).toEqual([
      expect.stringMatching(/^m\.yaml:6 error metadata\.labels Invalid value: "-"/u),
      'm.yaml:13 error spec.containers[0].nme unknown field "spec.containers[0].nme"',
      expect.stringMatching(/^m\.yaml:14 error spec\.containers\[1\]\.name Invalid value: "C"/u),
    ]);
  });

  test('plain scalars are read as a server reads them', async () => {
    const volume = '{name: v, configMap: {name: m, defaultMode: 0644}}';
    const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i}], volumes: [${volume}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: yes}
`;
    expect(await findings({ manifests: [file(text)] })).toEqual([
      expect.stringMatching(/^m\.yaml:[6-9] error /u),
    ]);
  });

  test('a field that is missing has the line of what should contain it', async () => {
    const text = '{"apiVersion": "v1", "kind": "Secret",\n "metadata": {\n  "namespace": "a"}}';
    expect(await findings({ manifests: [file(text)] })).toEqual([
      expect.stringContaining('m.yaml:2 error metadata.name Required value'),
    ]);
  });

  test('lists are taken apart, and an object that exists is validated as a change', async () => {
    const text = `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: A_}}
`;
    expect(await findings({ manifests: [file(text)] })).toEqual([
      expect.stringContaining('m.yaml:5 error metadata.name'),
    ]);
  });

  test('an immutable field of an old object', async () => {
    const secret = (data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nimmutable: true\ndata: {a: ${data}}\n`;
    const old = [file(secret('x'), 'old.yaml')];
    expect(await findings({ old, manifests: [file(secret('z'))] })).toEqual([
      expect.stringContaining('m.yaml:5 error data Forbidden'),
    ]);
  });

  test('texts that are no objects, and unknown kinds', async () => {
    const text = 'a: [\n---\n- 1\n---\nkind: X\n---\napiVersion: v1\nkind: X\n';
    expect(await findings({ manifests: [file(text)] })).toEqual([
      expect.stringContaining('m.yaml:2 error'),
      'm.yaml:3 error  this is no object',
      'm.yaml:5 error  an object needs apiVersion and kind',
      expect.stringContaining('m.yaml:8 error kind X is not in v1'),
    ]);
  });

  test('aliases that expand to too much are an error', async () => {
    const text = `a: &a [1,1]\n${Array.from('bcdefgh', (name, index) => `${name}: &${name} [*${'abcdefg'.charAt(index)},*${'abcdefg'.charAt(index)},*${'abcdefg'.charAt(index)}]\n`).join('')}`;
    expect(await findings({ manifests: [file(text)] })).toEqual([expect.stringContaining('alias')]);
  });
});

describe('custom resources', () => {
  test('are validated by definitions, whose webhooks are not called', async () => {
    const manifests = [file(widget('{min: a,\n  other: 1, labels: {b.c: long}}'))];
    expect(await findings({ definitions: [file(DEFINITION, 'crd.yaml')], manifests })).toEqual([
      expect.stringMatching(/^m\.yaml:4 error spec\.min Invalid value: "string"/u),
      'm.yaml:5 error spec.other unknown field "spec.other"',
      expect.stringMatching(/^m\.yaml:5 error spec\.labels\.b\.c Invalid value: "long"/u),
    ]);
  });

  test('a definition among the manifests is validated and used', async () => {
    const manifests = [file(`${widget('{}')}---\n${DEFINITION}`)];
    expect(await findings({ manifests })).toEqual([
      expect.stringContaining('m.yaml:4 error spec.min Required value'),
    ]);
  });

  test('a definition that is refused', async () => {
    const text = DEFINITION.replace('type: integer', 'type: number, items: {}');
    expect(await findings({ definitions: [file(text, 'crd.yaml')], manifests: [] })).not.toEqual([]);
    expect(await findings({ manifests: [file(widget('{}'))] })).toEqual([
      'm.yaml:2 error kind Widget is not in example.com/v1; definitions of custom resources are read from --crds',
    ]);
  });
});
