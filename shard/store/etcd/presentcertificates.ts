import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { ChannelCredentials } from '@grpc/grpc-js'

/** PEM. */
export interface EtcdTls {
  /** Absent: the authorities of the system. */
  readonly ca?: Buffer
  readonly certificate?: Buffer
  readonly key?: Buffer
}

/**
 * TLS with the present certificates in each new connection; open ones stay. etcd's own client reads its certificate for each one, too
 * (`GetClientCertificate` of `client/pkg/transport`).
 */
export class PresentCertificates extends ChannelCredentials {
  readonly #tls: () => EtcdTls

  constructor(tls: () => EtcdTls) {
    super()
    this.#tls = tls
  }

  override _isSecure(): boolean {
    return true
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other
  }

  /** grpc-js asks for one connector, and connects with it each time. */
  override _createSecureConnector(...place: Parameters<ChannelCredentials['_createSecureConnector']>) {
    const connector = ChannelCredentials.createSsl()._createSecureConnector(...place)
    const [{ path }] = place
    connector.connect = async socket => ({ socket: await secured(socket, path, this.#tls()), secure: true })
    return connector
  }
}

/** `address`: `host:port`, which the certificate must name. Rejects with the error of TLS. */
async function secured(socket: Socket, address: string, { ca, certificate, key }: EtcdTls): Promise<Socket> {
  const host = new URL(`https://${address}`).hostname.replace(/^\[(.*)\]$/, '$1')
  const options: ConnectionOptions = {
    socket,
    host,
    // RFC 6066, section 3: the name of a server is no address. Node 26 refuses it, and so would grpc-js there.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['h2'],
    rejectUnauthorized: true,
    ...(ca && { ca }),
    ...(certificate && { cert: certificate }),
    ...(key && { key }),
  }
  const secure = connect(options)
  // Until grpc-js listens.
  secure.on('error', () => undefined)
  await once(secure, 'secureConnect')
  return secure
}
