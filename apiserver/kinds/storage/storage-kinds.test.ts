import { ANNOTATION, GROUP } from '../../../shared/names';
import { testKind } from '../testing/kind-table';

const V1 = `/apis/${GROUP.storage}/v1`;
const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'c',
  resources: { requests: { storage: '1Gi' } },
};

testKind('PersistentVolumeClaim', {
  url: '/api/v1/namespaces/default/persistentvolumeclaims',
  good: { spec: CLAIM },
  bad: [
    ['no access mode', { spec: { accessModes: [] } }, ['Required spec.accessModes']],
    ['an unknown access mode', { spec: { accessModes: ['Odd'] } }, ['NotSupported spec.accessModes']],
    ['no size', { spec: { resources: { requests: null } } }, ['Required spec.resources[storage]']],
    ['no room', { spec: { resources: { requests: { storage: '0' } } } }, ['Invalid spec.resources[storage]']],
    ['an unknown mode', { spec: { volumeMode: 'Odd' } }, ['NotSupported spec.volumeMode']],
    ['a bad class', { spec: { storageClassName: 'B@d' } }, ['Invalid spec.storageClassName']],
    [
      'a bad selector',
      { spec: { selector: { matchLabels: { 'a b': 'c' } } } },
      ['Invalid spec.selector.matchLabels'],
    ],
  ],
  badChanges: [
    ['another mode', { spec: { accessModes: ['ReadWriteMany'] } }, ['Forbidden spec']],
    ['another class', { spec: { storageClassName: 'other' } }, ['Forbidden spec']],
    [
      'another class in the old place',
      { metadata: { annotations: { [ANNOTATION.betaStorageClass]: 'other' } } },
      [`Invalid metadata.annotations.${ANNOTATION.betaStorageClass}`],
    ],
    [
      'a larger size before it is bound',
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      ['Forbidden spec'],
    ],
    [
      'a smaller size',
      { spec: { resources: { requests: { storage: '1Mi' } } } },
      ['Forbidden spec', 'Forbidden spec.resources.requests.storage'],
    ],
    ['another kind of volume', { spec: { volumeMode: 'Block' } }, ['Forbidden spec', 'Invalid volumeMode']],
  ],
  goodChanges: [['the volume that it gets', { spec: { volumeName: 'pv' } }]],
});

const VOLUME = {
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  hostPath: { path: '/data' },
};

testKind('PersistentVolume', {
  url: '/api/v1/persistentvolumes',
  good: { spec: VOLUME },
  bad: [
    ['no capacity', { spec: { capacity: null } }, ['NotSupported spec.capacity', 'Required spec.capacity']],
    ['room for nothing', { spec: { capacity: { storage: '0' } } }, ['Invalid spec.capacity[storage]']],
    ['a capacity of processors', { spec: { capacity: { cpu: '1' } } }, ['NotSupported spec.capacity']],
    ['no source', { spec: { hostPath: null } }, ['Required spec']],
    ['two sources', { spec: { nfs: { server: 's', path: '/p' } } }, ['Forbidden spec.nfs']],
    ['a path that leads out', { spec: { hostPath: { path: '/a/../b' } } }, ['Invalid spec.hostPath.path']],
    [
      'an unknown end',
      { spec: { persistentVolumeReclaimPolicy: 'Odd' } },
      ['NotSupported spec.persistentVolumeReclaimPolicy'],
    ],
    [
      'a recycled root',
      { spec: { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' } },
      ['Forbidden spec.persistentVolumeReclaimPolicy'],
    ],
    [
      'a local disk of no node',
      { spec: { hostPath: null, local: { path: '/d' } } },
      ['Required spec.nodeAffinity'],
    ],
    ['an affinity to nothing', { spec: { nodeAffinity: {} } }, ['Required spec.nodeAffinity.required']],
    [
      'a secret of a driver without a namespace',
      {
        spec: {
          hostPath: null,
          csi: {
            driver: 'd',
            volumeHandle: 'h',
            nodePublishSecretRef: { name: 'n' },
            controllerExpandSecretRef: { name: 'B@d', namespace: 'x' },
          },
        },
      },
      ['Invalid spec.csi.name', 'Required spec.csi.nodePublishSecretRef .namespace'],
    ],
  ],
  badChanges: [
    ['another path', { spec: { hostPath: { path: '/other' } } }, ['Forbidden spec.persistentvolumesource']],
    ['another kind of volume', { spec: { volumeMode: 'Block' } }, ['Invalid volumeMode']],
  ],
  goodChanges: [['another end', { spec: { persistentVolumeReclaimPolicy: 'Delete' } }]],
});

testKind('StorageClass', {
  url: `${V1}/storageclasses`,
  good: { provisioner: 'example.com/disk', parameters: { type: 'fast' } },
  bad: [
    ['no provisioner', { provisioner: '' }, ['Required provisioner']],
    ['a bad provisioner', { provisioner: 'a b' }, ['Invalid provisioner']],
    ['an unknown end', { reclaimPolicy: 'Recycle' }, ['NotSupported reclaimPolicy']],
    ['an unknown binding', { volumeBindingMode: 'Odd' }, ['NotSupported volumeBindingMode']],
    ['an empty parameter', { parameters: { '': 'x' } }, ['Invalid parameters']],
    [
      'a topology without values',
      { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone' }] }] },
      ['Required allowedTopologies[0].matchLabelExpressions[0].values'],
    ],
  ],
  badChanges: [
    ['another provisioner', { provisioner: 'other' }, ['Forbidden provisioner']],
    ['another parameter', { parameters: { type: 'slow' } }, ['Forbidden parameters']],
    ['another end', { reclaimPolicy: 'Retain' }, ['Forbidden reclaimPolicy']],
    ['another binding', { volumeBindingMode: 'WaitForFirstConsumer' }, ['Invalid volumeBindingMode']],
  ],
  goodChanges: [['expansion', { allowVolumeExpansion: true }]],
});

testKind('CSIDriver', {
  url: `${V1}/csidrivers`,
  good: { spec: { attachRequired: false } },
  bad: [
    [
      'an unknown life',
      { spec: { volumeLifecycleModes: ['Odd'] } },
      ['NotSupported spec.volumeLifecycleModes'],
    ],
    ['an unknown ownership', { spec: { fsGroupPolicy: 'Odd' } }, ['NotSupported spec.fsGroupPolicy']],
  ],
  badChanges: [['another way to attach', { spec: { attachRequired: true } }, ['Invalid spec']]],
});

testKind('CSINode', {
  url: `${V1}/csinodes`,
  good: { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n', topologyKeys: ['example.com/zone'] }] } },
  bad: [
    ['no id', { spec: { drivers: [{ name: 'd', nodeID: '' }] } }, ['Required spec.drivers[0].nodeID']],
    [
      'a driver twice',
      {
        spec: {
          drivers: [
            { name: 'd', nodeID: 'n' },
            { name: 'd', nodeID: 'm' },
          ],
        },
      },
      ['Duplicate spec.drivers[1].name'],
    ],
    [
      'room for fewer than none',
      { spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: { count: -1 } }] } },
      ['Invalid spec.drivers[0].allocatable.count'],
    ],
  ],
  badChanges: [
    [
      'another id',
      { spec: { drivers: [{ name: 'd.example.com', nodeID: 'm' }] } },
      ['Invalid CSINodeDriver'],
    ],
  ],
  goodChanges: [['no driver', { spec: { drivers: [] } }]],
});

testKind('VolumeAttachment', {
  url: `${V1}/volumeattachments`,
  good: { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } },
  bad: [
    ['no attacher', { spec: { attacher: '' } }, ['Required spec.attacher']],
    ['no node', { spec: { nodeName: '' } }, ['Invalid spec.nodeName']],
    ['no source', { spec: { source: { persistentVolumeName: null } } }, ['Required spec.source']],
    [
      'an empty source',
      { spec: { source: { persistentVolumeName: '' } } },
      ['Required spec.source.persistentVolumeName'],
    ],
    [
      'a bad volume',
      { spec: { source: { persistentVolumeName: 'B@d' } } },
      ['Invalid spec.source.persistentVolumeName'],
    ],
  ],
  badChanges: [['another node', { spec: { nodeName: 'm' } }, ['Invalid spec']]],
});
