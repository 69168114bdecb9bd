import { Client, credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'

/** What a response becomes on its way from etcd: the messages that the client gets instead. It fails with a `RefusedByEtcd`. */
export type Tampering = (response: Buffer) => readonly Buffer[]

/** The error of a call that etcd has executed nevertheless. */
export class RefusedByEtcd extends Error {
  readonly code = status.RESOURCE_EXHAUSTED
  readonly details: string

  /** `text`: as etcd sends it. */
  constructor(text: string) {
    super(text)
    this.details = text
  }
}

/** A proxy of an etcd that changes its responses. */
export interface TamperingEtcd {
  /** `127.0.0.1:<port>` */
  readonly endpoint: string
  /** Changes the responses of a method from now on; undefined: passes them. */
  tamper(method: 'Range' | 'Txn' | 'Watch', tampering: Tampering | undefined): void
  close(): void
}

const same = (bytes: Buffer): Buffer => bytes

const methodAt = (path: string, isStream: boolean) => ({
  path,
  requestStream: isStream,
  responseStream: isStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})

const unary = ['Range', 'Txn', 'Compact']

/** Listens on a free port; `to`: the `host:port` of etcd. */
export async function tamperingEtcd(to: string): Promise<TamperingEtcd> {
  const client = new Client(to, credentials.createInsecure())
  const server = new Server()
  const tamperings = new Map<string, Tampering>()
  const changed = (method: string, response: Buffer): readonly Buffer[] =>
    tamperings.get(method)?.(response) ?? [response]
  for (const method of unary) {
    const path = `/etcdserverpb.KV/${method}`
    server.addService(
      { [method]: methodAt(path, false) },
      {
        [method]: (call: { request: Buffer }, done: (error: Error | null, response?: Buffer) => void) =>
          client.makeUnaryRequest(path, same, same, call.request, new Metadata(), (error, response) => {
            if (response === undefined) return done(error)
            try {
              done(null, changed(method, response)[0])
            } catch (refusal) {
              done(refusal as RefusedByEtcd)
            }
          }),
      },
    )
  }
  const path = '/etcdserverpb.Watch/Watch'
  server.addService(
    { Watch: methodAt(path, true) },
    {
      // biome-ignore lint/suspicious/noExplicitAny: grpc-js has no type of it without a generated service.
      Watch: (call: any) => {
        const stream = client.makeBidiStreamRequest<Buffer, Buffer>(path, same, same)
        call.on('data', (request: Buffer) => stream.write(request)).on('cancelled', () => stream.cancel())
        stream.on('data', response => {
          for (const each of changed('Watch', response)) call.write(each)
        })
        stream.on('error', () => call.end()).on('end', () => call.end())
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  return {
    endpoint: `127.0.0.1:${port}`,
    tamper: (method, tampering) =>
      void (tampering === undefined ? tamperings.delete(method) : tamperings.set(method, tampering)),
    close() {
      server.forceShutdown()
      client.close()
    },
  }
}
