import { isIPv4 } from 'node:net';

/** The 4 or 16 bytes of a valid IP address in its usual writing. */
export function ipBytes(address: string): Buffer {
  return isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
}

function ipv6Bytes(address: string): Buffer {
  const [left = '', right] = (address.split('%')[0] ?? '').split('::');
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  const bytes = Buffer.alloc(16);
  head.forEach((byte, index) => {
    bytes[index] = byte;
  });
  tail.forEach((byte, index) => {
    bytes[16 - tail.length + index] = byte;
  });
  return bytes;
}

function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
