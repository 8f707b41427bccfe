// SPDX-License-Identifier: Apache-2.0
#import <Foundation/Foundation.h>
#include <stdint.h>

#include "PeerGNUstep.h"

@interface Account : NSObject {
  int64_t balance;
}
- (int64_t)deposit:(int64_t)amount;
@end

@implementation Account
- (int64_t)deposit:(int64_t)amount { return balance += amount; }
@end

void peer_gnustep_new(long count) {
  static Account *account;
  static NSMethodSignature *signature;
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  if (!account) {
    account = [Account new];
    signature = [[account methodSignatureForSelector:@selector(deposit:)] retain];
  }
  for (long i = 0; i < count; i++) {
    NSInvocation *call = [NSInvocation invocationWithMethodSignature:signature];
    int64_t amount = i, balance;
    [call setSelector:@selector(deposit:)];
    [call setArgument:&amount atIndex:2];
    [call invokeWithTarget:account];
    [call getReturnValue:&balance];
    if (i % 64 == 63) {
      [pool release];
      pool = [NSAutoreleasePool new];
    }
  }
  [pool release];
}
