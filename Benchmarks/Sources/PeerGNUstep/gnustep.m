#import <Foundation/Foundation.h>
#include <stdint.h>

#include "PeerGNUstep.h"

@interface Target : NSObject {
 @public
  int64_t word;
}
- (void)keepObject:(id)object;
- (void)keep:(int64_t)value;
- (void)keepA:(int64_t)a b:(int)b c:(int64_t)c;
- (void)noted:(NSNotification *)notification;
@end

@implementation Target
- (void)keepObject:(id)object { word = (int64_t)object; }
- (void)keep:(int64_t)value { word = value; }
- (void)keepA:(int64_t)a b:(int)b c:(int64_t)c { word = a; }
- (void)noted:(NSNotification *)notification { word++; }
@end

/// The classic proxy: one delegate slot, many delegates.
@interface ManyProxy : NSObject {
 @public
  NSPointerArray *targets;
}
@end

@implementation ManyProxy
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector {
  return [[targets pointerAtIndex:0] methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation *)invocation {
  NSUInteger count = [targets count];
  for (NSUInteger i = 0; i < count; i++) {
    id target = [targets pointerAtIndex:i];
    if (target) [invocation invokeWithTarget:target];
  }
}
@end

static Target *target;
static NSInvocation *objectCall, *threeCall;
static NSMethodSignature *threeSignature;
static ManyProxy *proxies[65];
static NSNotificationCenter *centers[65];

void peer_gnustep_begin(void) {
  if (target) return;
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  target = [Target new];
  NSMethodSignature *signature = [target methodSignatureForSelector:@selector(keepObject:)];
  objectCall = [[NSInvocation invocationWithMethodSignature:signature] retain];
  [objectCall setSelector:@selector(keepObject:)];
  [objectCall setTarget:target];
  id argument = target;
  [objectCall setArgument:&argument atIndex:2];
  threeSignature = [[target methodSignatureForSelector:@selector(keepA:b:c:)] retain];
  threeCall = [[NSInvocation invocationWithMethodSignature:threeSignature] retain];
  [threeCall setSelector:@selector(keepA:b:c:)];
  [threeCall setTarget:target];
  for (int n = 1; n <= 64; n *= 4) {
    ManyProxy *proxy = proxies[n] = [ManyProxy new];
    proxy->targets = [[NSPointerArray weakObjectsPointerArray] retain];
    centers[n] = [NSNotificationCenter new];
    for (int i = 0; i < n; i++) {
      Target *one = [Target new];
      [proxy->targets addPointer:one];
      [centers[n] addObserver:one selector:@selector(noted:) name:@"noted" object:nil];
    }
  }
  [pool release];
}

void peer_gnustep_invoke(long count) {
  for (long i = 0; i < count; i++) [objectCall invoke];
}

void peer_gnustep_set3(long count) {
  for (long i = 0; i < count; i++) {
    int64_t a = i, c = i;
    int b = 7;
    [threeCall setArgument:&a atIndex:2];
    [threeCall setArgument:&b atIndex:3];
    [threeCall setArgument:&c atIndex:4];
    [threeCall invoke];
  }
}

void peer_gnustep_create(long count) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  for (long i = 0; i < count; i++) {
    NSInvocation *call = [NSInvocation invocationWithMethodSignature:threeSignature];
    int64_t a = i, c = i;
    int b = 7;
    [call setSelector:@selector(keepA:b:c:)];
    [call setTarget:target];
    [call setArgument:&a atIndex:2];
    [call setArgument:&b atIndex:3];
    [call setArgument:&c atIndex:4];
    [call invoke];
    if (i % 64 == 63) {
      [pool release];
      pool = [NSAutoreleasePool new];
    }
  }
  [pool release];
}

void peer_gnustep_parse(long count) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  for (long i = 0; i < count; i++) {
    [NSMethodSignature signatureWithObjCTypes:"v@:@iid"];
    if (i % 64 == 63) {
      [pool release];
      pool = [NSAutoreleasePool new];
    }
  }
  [pool release];
}

void peer_gnustep_forward(int targets, long count) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  Target *proxy = (Target *)proxies[targets];
  for (long i = 0; i < count; i++) {
    [proxy keep:i];
    if (i % 64 == 63) {
      [pool release];
      pool = [NSAutoreleasePool new];
    }
  }
  [pool release];
}

void peer_gnustep_notify(int targets, long count) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  for (long i = 0; i < count; i++) {
    [centers[targets] postNotificationName:@"noted" object:nil];
    if (i % 64 == 63) {
      [pool release];
      pool = [NSAutoreleasePool new];
    }
  }
  [pool release];
}
