// Sip.h : messages, the registrar, handlers
#ifndef SIPGATE_SIP_H
#define SIPGATE_SIP_H

#include "Media.h"

enum EMethod { M_INVITE, M_BYE, M_REGISTER, M_OPTIONS, M_COUNT };

struct SSipMessage
{
    UINT32_ nCallId;
    UINT32_ nUser;
    UINT16_ nChannel;
    BYTE8   nMethod;
    BYTE8   nForwards;
    char    szTag[20];
};

// receiver to the workers
class CMessageQueue
{
public:
    bool Put(const SSipMessage& rMessage);
    bool Get(SSipMessage& rMessage);
    void Close() { m_bClosed.store(true, std::memory_order_release); }
    bool Closed() const { return m_bClosed.load(std::memory_order_acquire); }
private:
    enum { SLOTS = 32 };
    std::atomic<bool> m_bClosed{false};
    CSpinLock   m_Lock;
    unsigned    m_nFirst = 0;
    unsigned    m_nCount = 0;
    unsigned    m_nPeak = 0;
    std::atomic<unsigned> m_nPolls{0};
    SSipMessage m_Slots[SLOTS];
};

struct SBinding
{
    SBinding* pNext;
    UINT32_   nUser;
    unsigned  nExpires;
};

class CRegistrar
{
public:
    CRegistrar();
    ~CRegistrar();
    unsigned Lookup(UINT32_ nUser);
    void Refresh(UINT32_ nUser, unsigned nUntil);
    void Expire(unsigned nNow);
private:
    enum { BUCKETS = 32, USERS = 128 };
    struct SBucket
    {
        CSpinLock Lock;
        unsigned  nLookups = 0;
        SBinding* pFirst = nullptr;
    };
    SBucket  m_Buckets[BUCKETS];
    unsigned m_nCursor = 0;
    unsigned m_nExpired = 0;
};

class CDispatcher;
typedef void (CDispatcher::*PFNHANDLER)(const SSipMessage&, unsigned nWorker);

class CDispatcher
{
public:
    explicit CDispatcher(CRegistrar& rRegistrar);
    void Dispatch(const SSipMessage& rMessage, unsigned nWorker);
    unsigned Calls(EMethod eMethod) const { return m_Handlers[eMethod].nCalls.load(); }
private:
    struct SHandler
    {
        PFNHANDLER            pfn;
        const char*           pszName;
        std::atomic<unsigned> nCalls;
        unsigned              nFailed;
    };
    void OnInvite(const SSipMessage& rMessage, unsigned nWorker);
    void OnBye(const SSipMessage& rMessage, unsigned nWorker);
    void OnRegister(const SSipMessage& rMessage, unsigned nWorker);
    void OnOptions(const SSipMessage& rMessage, unsigned nWorker);

    CRegistrar& m_rRegistrar;
    SHandler    m_Handlers[M_COUNT];
};

struct SWorkerContext
{
    unsigned nIndex;
    unsigned nHandled;
    unsigned nDigest;
};

class CSipWorker : public CThread
{
public:
    CSipWorker(unsigned nIndex, CMessageQueue& rQueue, CDispatcher& rDispatcher, SWorkerContext* pContext)
        : CThread("worker"), m_nIndex(nIndex), m_rQueue(rQueue), m_rDispatcher(rDispatcher), m_pContext(pContext) {}
protected:
    void Run() override;
private:
    unsigned        m_nIndex;
    CMessageQueue&  m_rQueue;
    CDispatcher&    m_rDispatcher;
    SWorkerContext* m_pContext;
};

class CReceiver : public CThread
{
public:
    CReceiver(unsigned nRounds, CMessageQueue& rQueue) : CThread("receiver"), m_nRounds(nRounds), m_rQueue(rQueue) {}
protected:
    void Run() override;
private:
    void OnSip(unsigned n);
    void OnRtp(unsigned n);
    unsigned       m_nRounds;
    unsigned       m_nDropped = 0;
    CMessageQueue& m_rQueue;
};

class CHousekeeper : public CThread
{
public:
    CHousekeeper(CRegistrar& rRegistrar, std::vector<CThread*>& rThreads)
        : CThread("housekeeper"), m_rRegistrar(rRegistrar), m_rThreads(rThreads) {}
protected:
    void Run() override;
private:
    void Report();
    CRegistrar&            m_rRegistrar;
    std::vector<CThread*>& m_rThreads;
    unsigned               m_nReports = 0;
};

#endif
