import * as der from '../der';
import { ipBytes } from '../../meta/ip-address';
import { alternativeNamesOf, hostNameProblem } from './alternative-names';

/** The cases follow TestVerifyHostname and TestValidHostname of Go's crypto/x509. */

function problem(names: readonly string[], host: string): string | undefined {
  const dnsNames = names.filter((name) => !/^[\d.]+$|:/u.test(name));
  const addresses = names.filter((name) => !dnsNames.includes(name)).map(ipBytes);
  const alternativeNames = { dnsNames, addresses, emails: [], uris: [] };
  return hostNameProblem({ alternativeNames, commonName: 'x' }, host);
}

test.each([
  ['a.example', 'a.example'],
  ['A.Example', 'a.eXAMPLE'],
  ['*.example', 'a.example'],
  ['*.example', 'a.example.'],
  ['a_b-c.example', 'a_b-c.example'],
  ['-odd.example', '-odd.example'],
  ['*', '*'],
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::ffff:127.0.0.1'],
  ['::1', '[::1]'],
  ['::1', '0:0:0:0:0:0:0:1'],
])('a certificate for %s is for the host %s', (name, host) => {
  expect(problem(['other.example', name], host)).toBeUndefined();
});

test.each([
  ['*.example', 'example'],
  ['*.example', 'b.a.example'],
  ['a.*.example', 'a.b.example'],
  ['w*.example', 'www.example'],
  ['*', 'a'],
  ['.example', 'a.example'],
  ['a.example.', 'a.example'],
  ['*.example', '-odd.example'],
  ['*.example', '.example'],
])('a certificate for %s is not for the host %s', (name, host) => {
  expect(problem([name], host)).toBe(`certificate is valid for ${name}, not ${host}`);
});

test('the problem is described in the words of Go', () => {
  const none = { alternativeNames: undefined, commonName: 'a.example' };
  expect(hostNameProblem(none, 'a.example')).toBe(
    'certificate relies on legacy Common Name field, use SANs instead',
  );
  expect(hostNameProblem(none, 'b.example')).toBe(
    'certificate is not valid for any names, but wanted to match b.example',
  );
  expect(problem(['1.2.3.4', '::1'], '[::2]')).toBe('certificate is valid for 1.2.3.4, ::1, not ::2');
  expect(problem(['1.2.3.4'], 'a.example')).toBe(
    'certificate is not valid for any names, but wanted to match a.example',
  );
  expect(problem(['1.2.3.4.example'], '1.2.3.4')).toBe(
    "cannot validate certificate for 1.2.3.4 because it doesn't contain any IP SANs",
  );
  const many = Array.from({ length: 101 }, (_, at) => `${String(at)}.example`);
  expect(problem(many, 'a.example')).toBe('certificate is valid for 101 names, but none matched a.example');
});

test('an address of another length and letters outside ASCII are malformed', () => {
  expect(() => alternativeNamesOf(der.sequence(der.implicit(7, Buffer.alloc(5))))).toThrow('malformed');
  expect(() => alternativeNamesOf(der.sequence(der.implicit(2, Buffer.from('ä'))))).toThrow('malformed');
  expect(() => alternativeNamesOf(der.octetString(Buffer.alloc(0)))).toThrow('not the structure');
});
