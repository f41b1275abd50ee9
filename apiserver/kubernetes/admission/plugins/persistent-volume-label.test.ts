import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION, VOLUME_TOPOLOGY_LABELS } from '../../../../shared/names';
import { attributesOf, outcomeOf, resultOf } from '../testing/plugin-bench';
import { persistentVolumeLabel } from './persistent-volume-label';

const [TODAY, BEFORE] = VOLUME_TOPOLOGY_LABELS;

async function outcome(spec: object, metadata: object = {}): Promise<unknown> {
  const object: ApiObject = { metadata: { name: 'v', ...metadata }, spec };
  return outcomeOf(persistentVolumeLabel, attributesOf('v1/persistentvolumes', { object }));
}

const provisioned = ({ zone, region }: (typeof VOLUME_TOPOLOGY_LABELS)[number], value = 'a') => ({
  annotations: { [ANNOTATION.provisionedBy]: 'example.com/p' },
  labels: { [zone]: value, [region]: 'r' },
});
const isIn = (key: string, ...values: string[]) => ({ key, operator: 'In', values });

test.each([TODAY, BEFORE])(
  'a volume is bound to the zone and region labelled by its provisioner %j',
  async (names) => {
    const volume = (await outcome(
      { awsElasticBlockStore: { volumeID: 'x' } },
      provisioned(names, 'b__a'),
    )) as {
      spec: object;
    };
    const matchExpressions = [isIn(names.zone, 'a', 'b'), isIn(names.region, 'r')];
    expect(volume.spec).toMatchObject({
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    });
  },
);

test('the zone is added to each term of a volume with other node affinity', async () => {
  const terms = [{ matchExpressions: [isIn('a', 'b')] }, { matchFields: [isIn('metadata.name', 'n')] }];
  const spec = { nodeAffinity: { required: { nodeSelectorTerms: terms } } };
  const place = [isIn(TODAY.zone, 'a'), isIn(TODAY.region, 'r')];
  expect(await outcome(spec, provisioned(TODAY))).toMatchObject({
    spec: {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [isIn('a', 'b'), ...place] },
            { ...terms[1], matchExpressions: place },
          ],
        },
      },
    },
  });
});

test('a volume with its own zone terms is unchanged', async () => {
  const terms = [{ matchExpressions: [isIn(TODAY.region, 'other')] }];
  const spec = { nodeAffinity: { required: { nodeSelectorTerms: terms } } };
  expect(await outcome(spec, provisioned(TODAY))).toMatchObject({ spec });
});

test.each<readonly [object, string]>([
  [
    { awsElasticBlockStore: { volumeID: 'x' } },
    'error querying AWS EBS volume x: unable to build AWS cloud provider for EBS',
  ],
  [
    { gcePersistentDisk: { pdName: 'x' } },
    'error querying GCE PD volume x: unable to build GCE cloud provider for PD',
  ],
  [
    { azureDisk: { diskName: 'x' } },
    'error querying AzureDisk volume x: unable to build Azure cloud provider for AzureDisk',
  ],
  [
    { cinder: { volumeID: 'x' } },
    'error querying Cinder volume x: unable to build OpenStack cloud provider for Cinder disk',
  ],
  [
    { vsphereVolume: { volumePath: 'x' } },
    'error querying vSphere Volume x: unable to build vSphere cloud provider',
  ],
])('a cloud volume without provisioner labels is refused: %j', async (spec, why) => {
  const labels = { [TODAY.zone]: 'a', [TODAY.region]: 'r' };
  expect(await outcome(spec, { labels })).toBe(`403 persistentvolumes "v" is forbidden: ${why}`);
});

test.each([
  { nfs: { server: 's', path: '/' } },
  { awsElasticBlockStore: { volumeID: 'placeholder-for-provisioning' } },
])('any other volume is ignored: %j', async (spec) => {
  expect(resultOf(await outcome(spec))).toBe('admitted');
  expect(await outcome(spec)).toEqual({ metadata: { name: 'v' }, spec });
});
