import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const slice = {
  addressType: 'IPv4',
  endpoints: [{ addresses: ['192.0.2.1'] }],
  ports: [{ name: 'http', port: 80 }],
};

export const discoveryCases: readonly KindCases[] = [
  {
    kind: 'EndpointSlice',
    url: `/apis/${GROUP.discovery}/v1/namespaces/default/endpointslices`,
    good: slice,
    bad: [
      ['no type of address', { addressType: '' }, ['Required addressType']],
      ['an unknown type of address', { addressType: 'Odd' }, ['NotSupported addressType']],
      [
        'a loopback address in IPv6 form',
        { addressType: 'IPv6', endpoints: [{ addresses: ['::ffff:127.0.0.1'] }] },
        ['Invalid endpoints[0].addresses[0]'],
      ],
      [
        'an address of the other family',
        { endpoints: [{ addresses: ['fd00::1'] }] },
        ['Invalid endpoints[0].addresses[0]'],
      ],
      ['no address', { endpoints: [{ addresses: [] }] }, ['Required endpoints[0].addresses']],
      [
        'too many addresses',
        { endpoints: [{ addresses: Array.from({ length: 101 }, () => '192.0.2.1') }] },
        ['TooMany endpoints[0].addresses'],
      ],
      ['two ports without names', { ports: [{ port: 1 }, { port: 2 }] }, ['Duplicate ports[1].name']],
      ['an unknown protocol', { ports: [{ protocol: 'Odd' }] }, ['NotSupported ports[0].protocol']],
      [
        'a bad host name',
        { endpoints: [{ addresses: ['192.0.2.1'], hostname: 'a.b' }] },
        ['Invalid endpoints[0].hostname'],
      ],
    ],
    badChanges: [
      [
        'another type of address',
        { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }] },
        ['Invalid addressType'],
      ],
    ],
  },
];
