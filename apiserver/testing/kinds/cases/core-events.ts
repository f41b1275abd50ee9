import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const event = {
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  eventTime: '2021-01-02T03:04:05.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Act',
  reason: 'Because',
  type: 'Normal',
  note: 'hello',
};

export const coreEventsCases: readonly KindCases[] = [
  {
    kind: 'Event of events v1',
    url: `/apis/${GROUP.events}/v1/namespaces/default/events`,
    good: event,
    bad: [
      ['no time', { eventTime: null }, ['Required eventTime']],
      ['no instance', { reportingInstance: '' }, ['Required reportingInstance']],
      ['no action', { action: '' }, ['Required action']],
      ['a reason that is too long', { reason: 'r'.repeat(129) }, ['Invalid reason']],
      ['a note that is too long', { note: 'n'.repeat(1025) }, ['Invalid message']],
      ['an unknown type', { type: 'Odd' }, ['Invalid type']],
      [
        'a series of one',
        { series: { count: 1, lastObservedTime: event.eventTime } },
        ['Invalid series.count'],
      ],
      ['a count of old', { deprecatedCount: 3 }, ['Invalid count']],
      ['a source of old', { deprecatedSource: { component: 'c' } }, ['Invalid source']],
      [
        'an object without a namespace',
        { regarding: { namespace: null } },
        ['Invalid involvedObject.namespace'],
      ],
      ['a prefix of names', { metadata: { generateName: 'Always' } }, ['Invalid metadata.generateName']],
      [
        'a finalizer without a domain',
        { metadata: { finalizers: ['none'] } },
        ['Invalid metadata.finalizers[0]'],
      ],
    ],
  },
  {
    kind: 'Event of core',
    url: '/api/v1/namespaces/default/events',
    good: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, type: 'Odd', count: 3 },
    bad: [
      [
        'an object of another namespace',
        { involvedObject: { namespace: 'other' } },
        ['Invalid involvedObject.namespace'],
      ],
    ],
  },
];
