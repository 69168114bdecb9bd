import { setFlagsFromString } from 'node:v8'

/** For a process that passes on bytes, so that few of its objects live: V8 has programs in mind that compute. */
export function saveMemory(): void {
  // The space for new objects stays as it is. It doubles with every burst, up to 32 MiB and from Node 24 on 128, and a
  // process that answers requests gets none of it back.
  setFlagsFromString('--semi-space-growth-factor=1')
  // undici's parser stays as it was compiled first: compiled once more it is no faster where it matters, and takes 35 MiB
  // for a moment, of which malloc keeps ten.
  setFlagsFromString('--wasm-tiering-budget=2000000000')
}
