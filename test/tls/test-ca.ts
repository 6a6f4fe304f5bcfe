/** Certificates for servers on loopback, made in memory: nothing is written, nothing is trusted by default. */
import './reflect-metadata.ts';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** A server's private key (PKCS #8) and certificate, both PEM: the `key` and `cert` of `node:tls`. */
export interface ServerCertificate {
  key: string;
  cert: string;
}

export interface IssueOptions {
  /** DNS names (wildcards too) and IP addresses that the certificate is valid for. */
  hosts: readonly string[];
  /** Default: a day ago. */
  notBefore?: Date;
  /** Default: 30 days ahead. A date in the past gives an expired certificate. */
  notAfter?: Date;
}

export interface TestCa {
  /** The root certificate, for `ca` of a TLS client or a file named by NODE_EXTRA_CA_CERTS. */
  pem: string;
  issue(options: IssueOptions): Promise<ServerCertificate>;
}

/** A certificate authority of its own; two calls give two that do not trust each other. */
export async function createTestCa(name = 'Test root'): Promise<TestCa> {
  const keys = await newKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity({}),
    serialNumber: newSerial(),
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  async function issue(options: IssueOptions): Promise<ServerCertificate> {
    const leafKeys = await newKeys();
    const leaf = await x509.X509CertificateGenerator.create({
      ...validity(options),
      serialNumber: newSerial(),
      subject: subjectOf(options.hosts),
      issuer: root.subject,
      publicKey: leafKeys.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        ...serverExtensions(options.hosts),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return { key: await keyPem(leafKeys.privateKey), cert: leaf.toString('pem') };
  }

  return { pem: root.toString('pem'), issue };
}

/** A certificate that only vouches for itself, as a seller forgets to replace it. */
export async function selfSigned(hosts: readonly string[]): Promise<ServerCertificate> {
  const keys = await newKeys();
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity({}),
    serialNumber: newSerial(),
    name: subjectOf(hosts),
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: serverExtensions(hosts),
  });
  return { key: await keyPem(keys.privateKey), cert: cert.toString('pem') };
}

function newKeys() {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

/** Positive and of one length, as DER integers want it; random, since clients refuse a reused one. */
function newSerial(): string {
  return `01${randomBytes(15).toString('hex')}`;
}

function validity(options: Pick<IssueOptions, 'notBefore' | 'notAfter'>) {
  const now = Date.now();
  const notAfter = options.notAfter ?? new Date(now + 30 * DAY_MS);
  // An expired certificate still began before it ended.
  const notBefore = options.notBefore ?? new Date(Math.min(now, notAfter.getTime()) - DAY_MS);
  return { notBefore, notAfter };
}

function subjectOf(hosts: readonly string[]) {
  const [first] = hosts;
  if (first === undefined) throw new Error('A certificate needs a host: give at least one.');
  return [{ CN: [first] }];
}

function serverExtensions(hosts: readonly string[]): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })),
    ),
  ];
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
