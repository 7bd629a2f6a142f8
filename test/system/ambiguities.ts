/** Replaces a part of a valid request. The request is sent with a Content-Length, or in one chunk if `isChunked`. */
export interface Ambiguity {
  readonly pattern: RegExp | string;
  readonly replacement: string;
  readonly isChunked?: boolean;
}
const inSized = (pattern: RegExp | string, replacement: string): Ambiguity => ({ pattern, replacement });
const inChunk = (pattern: RegExp | string, replacement: string) => ({ pattern, replacement, isChunked: true });
/** Adds a line at the end of the headers. */
const line = (added: string) => inSized('\r\n\r\n', `\r\n${added}\r\n\r\n`);
const length = (value: string) => inSized(/(?<=Content-Length: )(.*)/, value);
const coding = (value: string) => inChunk(/(?<=Transfer-Encoding: )chunked/, value);
/** The line with the size of the chunk, after the empty line. */
const size = (value: string) => inChunk(/(?<=\r\n\r\n)([0-9a-f]+)\r\n/, value);

/** Changes that make the end of a valid request ambiguous. */
export const AMBIGUITIES: Readonly<Record<string, Ambiguity>> = {
  'Content-Length and Transfer-Encoding': line('Transfer-Encoding: chunked'),
  'a second Content-Length': line('Content-Length: 0'),
  'a Content-Length that is a list': length('$1, $1'),
  'a Content-Length with a sign': length('+$1'),
  'a Content-Length in hexadecimal': length('0x$1'),
  'a Content-Length with an exponent': length('$1e0'),
  'a Content-Length that contains a space': length('1 0'),
  'a negative Content-Length': length('-$1'),
  'an empty Content-Length': length(''),
  'a Content-Length beyond 64 bits': length('18446744073709551617'),
  'a space before the colon of Content-Length': line('Content-Length : 0'),
  'a space before the colon of Transfer-Encoding': line('Transfer-Encoding : chunked'),
  'Transfer-Encoding: identity': coding('identity'),
  'Transfer-Encoding: xchunked': coding('xchunked'),
  'Transfer-Encoding: gzip, chunked': coding('gzip, chunked'),
  'Transfer-Encoding: chunked, identity': coding('chunked, identity'),
  'Transfer-Encoding: chunked in quotes': coding('"chunked"'),
  'Transfer-Encoding: chunked after a vertical tab': coding('\x0bchunked'),
  'Transfer-Encoding: chunked; with a parameter': coding('chunked; q=1'),
  'Transfer-Encoding twice': coding('chunked\r\nTransfer-Encoding: chunked'),
  'a second, different Transfer-Encoding': coding('chunked\r\nTransfer-Encoding: identity'),
  'a folded Transfer-Encoding': coding('\r\n chunked'),
  'a folded header': line('X-Long: a\r\n b'),
  'a header line that ends in LF alone': line('X: a\nContent-Length: 0'),
  'a header line that ends in CR alone': line('X: a\rContent-Length: 0'),
  'a NUL in a header': line('X: a\0b'),
  'a header without a colon': line('Content-Length'),
  'a header without a name': line(': 0'),
  'lines that end in LF alone': inSized(/\r\n/g, '\n'),
  'a second Host': line('Host: test'),
  'no Host': inSized('Host: test\r\n', ''),
  'a lower-case method': inSized('POST', 'post'),
  'HTTP/1.2': inSized('HTTP/1.1', 'HTTP/1.2'),
  'HTTP/2.0': inSized('HTTP/1.1', 'HTTP/2.0'),
  'chunks in HTTP/1.0': inChunk('HTTP/1.1', 'HTTP/1.0'),
  'a chunk size that is not a number': size('x\r\n'),
  'a chunk size with the prefix 0x': size('0x$1\r\n'),
  'a chunk size with a sign': size('+$1\r\n'),
  'a negative chunk size': size('-1\r\n'),
  'a chunk size after a space': size(' $1\r\n'),
  'a chunk with more bytes than its size': size('$1\r\nx'),
  'a chunk size beyond 64 bits': size('10000000000000000$1\r\n'),
  'a chunk size that ends in LF alone': size('$1\n'),
  'a chunk extension that ends in LF alone': size('$1;a\n'),
  'a chunk that ends in LF alone': inChunk(/\r\n(?=0\r\n\r\n$)/, '\n'),
};
