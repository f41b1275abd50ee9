import { ANNOTATION } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'c',
  resources: { requests: { storage: '1Gi' } },
};

const VOLUME = {
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  hostPath: { path: '/data' },
};

export const coreVolumesCases: readonly KindCases[] = [
  {
    kind: 'PersistentVolumeClaim',
    url: '/api/v1/namespaces/default/persistentvolumeclaims',
    good: { spec: CLAIM },
    bad: [
      ['no access mode', { spec: { accessModes: [] } }, ['Required spec.accessModes']],
      ['an unknown access mode', { spec: { accessModes: ['Odd'] } }, ['NotSupported spec.accessModes']],
      ['no size', { spec: { resources: { requests: null } } }, ['Required spec.resources[storage]']],
      [
        'no room',
        { spec: { resources: { requests: { storage: '0' } } } },
        ['Invalid spec.resources[storage]'],
      ],
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
  },
  {
    kind: 'PersistentVolume',
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
  },
];
