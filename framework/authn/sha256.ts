import { createHash } from 'node:crypto'

/** 32 bytes. */
export const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()
