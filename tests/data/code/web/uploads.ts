// Files that people send: how large they may be, and where they go.

import { Readable } from "stream";

/** What is known of a file that was sent. */
export interface Upload {
  name: string;
  bytes: number;
  mime: string;
}

export enum Verdict {
  Accepted,
  TooLarge,
  WrongType,
}

export type Sink = (chunk: Uint8Array) => Promise<void>;

/** Decide whether a file may be kept, by its size and its media type. */
export function judge(upload: Upload, most: number): Verdict {
  if (upload.bytes > most) return Verdict.TooLarge;
  return upload.mime.startsWith("image/") ? Verdict.Accepted : Verdict.WrongType;
}

/** Stream a file into storage in pieces, so that no file is whole in memory. */
export async function store(source: Readable, sink: Sink): Promise<number> {
  let bytes = 0;
  for await (const chunk of source) {
    await sink(chunk);
    bytes += chunk.length;
  }
  return bytes;
}
